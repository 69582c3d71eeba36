import { en } from '@millrace/ui/i18n/en.ts';
import { ja } from '@millrace/ui/i18n/ja.ts';
import type { Language } from '@millrace/ui/i18n/languages.ts';
import type { Page } from 'playwright-core';
import { settle } from './places.ts';

/** Translates a key (`workflows.new`) with its placeholders filled. */
export type Say = (key: string, values?: { readonly [name: string]: string | number }) => string;

export function sayIn(language: Language): Say {
  return (key, values = {}) => {
    let found: unknown = language === 'ja' ? ja : en;
    for (const name of key.split('.'))
      found = (found as { readonly [name: string]: unknown } | undefined)?.[name];
    if (typeof found !== 'string') throw new Error(`there is no text ${key}`);
    return found.replace(/\{\{(\w+)\}\}/g, (_all, name: string) => String(values[name] ?? ''));
  };
}

/** Part of a page that is shown on demand: a dialog, a menu, a panel. */
export interface Scene {
  readonly name: string;
  readonly path: string;
  /** Goes on from the scene before, if that was the last one to be opened. */
  readonly continues?: true;
  /** Escape doesn't close it, or not the first time. */
  readonly isHeld?: true;
  readonly open: (page: Page, say: Say) => Promise<void>;
}

interface Furniture {
  readonly workflowId: number;
  readonly executionIds: readonly number[];
}

/** All dialogs, menus and panels of an organisation filled by `furnish`; opened with everything loaded. */
export function scenesOf(furniture: Furniture): readonly Scene[] {
  return settled([
    ...listScenes(),
    ...editorScenes(furniture),
    ...executionScenes(furniture),
    ...adminScenes(),
  ]);
}

/** Opens them with everything loaded. */
export function settled(scenes: readonly Scene[]): readonly Scene[] {
  return scenes.map((scene) => ({
    ...scene,
    async open(page, say) {
      await scene.open(page, say);
      await settle(page);
    },
  }));
}

export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first();
export const item = (page: Page, name: string) => page.getByRole('menuitem', { name, exact: true });
/** Waits for a dialog with all of its content. */
export const dialog = (page: Page) => page.getByRole('dialog').last().waitFor();
export const isNarrow = (page: Page) => (page.viewportSize()?.width ?? 0) < 768;
export const menu = (page: Page) => page.getByRole('menu').waitFor();

function listScenes(): readonly Scene[] {
  const path = 'workflows';
  return [
    {
      name: 'workflows-menu',
      path,
      async open(page, say) {
        await button(page, say('workflows.actionsNamed', { name: 'Orders' })).click();
        await menu(page);
      },
    },
    {
      name: 'workflows-import',
      path,
      async open(page, say) {
        await button(page, say('workflows.moreWays')).click();
        await item(page, say('workflows.import')).click();
        await dialog(page);
      },
    },
    {
      name: 'workflows-run',
      path,
      async open(page, say) {
        await button(page, say('workflows.runNamed', { name: 'Orders' })).click();
        await dialog(page);
      },
    },
    {
      name: 'template-use',
      path: 'templates',
      async open(page, say) {
        await page
          .getByRole('button', { name: say('gallery.use'), exact: false })
          .first()
          .waitFor();
        await page.getByRole('article').first().getByRole('button').last().click();
        await dialog(page);
      },
    },
    {
      name: 'user-menu',
      path,
      async open(page, say) {
        const name = new RegExp(
          say('shell.userMenu', { name: '' })
            .split(/[:：（(]/)[0]
            ?.trim() ?? '',
        );
        if (isNarrow(page)) await button(page, say('shell.openMenu')).click();
        await page.getByRole('button', { name }).click();
        await menu(page);
      },
    },
  ];
}

function editorScenes({ workflowId }: Furniture): readonly Scene[] {
  const path = `workflows/${workflowId}`;
  // On the canvas, or in the list that replaces it in a narrow window.
  const openNode = async (page: Page, say: Say): Promise<void> => {
    await page.getByText('Large order?', { exact: true }).first().click();
    await page.getByRole('tab', { name: say('forms.configure'), exact: true }).waitFor();
  };
  const tab = (key: string): Scene => ({
    name: `editor-node-${key}`,
    path,
    continues: true,
    async open(page, say) {
      const at = page.getByRole('tab', { name: say(`forms.${key}`), exact: true });
      if (!(await at.isVisible())) await openNode(page, say);
      await at.click();
    },
  });
  return [
    {
      name: 'editor-palette',
      path,
      async open(page, say) {
        await button(page, say('editor.addNode')).click();
        await page.getByRole('option').first().waitFor();
      },
    },
    { name: 'editor-node', path, open: openNode },
    ...['behaviour', 'output', 'help'].map(tab),
    {
      name: 'editor-list',
      path,
      async open(page, say) {
        if (!isNarrow(page)) await button(page, say('editor.showList')).click();
        await page.getByRole('table').waitFor();
      },
    },
    {
      name: 'editor-menu',
      path,
      async open(page, say) {
        await button(page, say('workplace.more')).click();
        await menu(page);
      },
    },
    {
      name: 'editor-settings',
      path,
      async open(page, say) {
        await button(page, say('workplace.more')).click();
        await item(page, say('workplace.settings')).click();
        await page.getByText(say('forms.settingsAbout')).waitFor();
      },
    },
    {
      name: 'editor-keys',
      path,
      async open(page, say) {
        await button(page, say('editor.keys.title')).focus();
        await page.keyboard.press('?');
        await dialog(page);
      },
    },
    {
      name: 'editor-run',
      path,
      async open(page, say) {
        await button(page, say('workplace.openBottom')).click();
        await page.getByRole('tab', { name: say('workplace.trying.title'), exact: true }).click();
      },
    },
    {
      name: 'editor-problems',
      path,
      async open(page, say) {
        await button(page, say('editor.addNode')).click();
        await page.locator('[role="option"][data-type="http.request"]').click();
        await page.getByRole('alert').first().waitFor();
        // In a narrow window the panel covers everything else.
        if (isNarrow(page)) return;
        await button(page, say('workplace.openBottom')).click();
        await page.locator('.editor-problem').first().waitFor();
      },
    },
    {
      name: 'editor-versions',
      path,
      async open(page, say) {
        await page.getByRole('link', { name: say('workplace.versions.title'), exact: false }).click();
        await page
          .getByText(say('versions.version', { version: 1 }))
          .first()
          .waitFor();
      },
    },
  ];
}

function executionScenes({ executionIds: [first = 0, , failed = 0] }: Furniture): readonly Scene[] {
  return [
    {
      name: 'executions-bulk',
      path: 'executions',
      async open(page, say) {
        await page.locator('[data-execution]').first().getByRole('checkbox').check();
        await page.getByRole('toolbar', { name: say('runs.bulk.label') }).waitFor();
      },
    },
    {
      name: 'execution-node',
      path: `executions/${first}?node=check`,
      open: async (page) => page.getByRole('complementary').waitFor(),
    },
    {
      name: 'execution-rerun',
      path: `executions/${failed}`,
      async open(page, say) {
        await button(page, say('executions.action.rerun')).click();
        await item(page, say('executions.action.withInput')).click();
        await dialog(page);
      },
    },
  ];
}

function adminScenes(): readonly Scene[] {
  const opens = (name: string, path: string, key: string): Scene => ({
    name,
    path,
    async open(page, say) {
      await button(page, say(key)).click();
      await dialog(page);
    },
  });
  return [
    opens('credential-add', 'credentials', 'credentials.add'),
    opens('key-issue', 'keys', 'keys.issue'),
    opens('member-invite', 'members', 'people.invite'),
    opens('alert-add', 'alerts', 'alerts.add'),
    opens('account-factor', '/account', 'account.setUpFactor'),
    { name: 'nowhere', path: 'nowhere', open: (page) => page.getByRole('heading').first().waitFor() },
    {
      name: 'invitation',
      path: '/invitation#token=x',
      open: (page) => page.getByRole('heading').first().waitFor(),
    },
  ];
}

/** A page's URL; the path is relative to the organisation, or absolute with a leading slash. */
export function addressIn(url: string, organisationId: number, path: string): string {
  return path.startsWith('/') ? url + path : `${url}/o/${organisationId}/${path}`;
}
