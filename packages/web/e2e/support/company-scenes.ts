import type { Page } from 'playwright-core';
import type { Company } from './furnish-company.ts';
import { button, dialog, isNarrow, item, menu, type Say, type Scene, settled } from './scenes.ts';

const LOOP = 'Nightly report of customers';

/** What a busy organisation shows that a new one doesn't, and every further dialog and state. */
export function companyScenes(company: Company): readonly Scene[] {
  return settled([
    ...commandScenes(),
    ...workflowScenes(company),
    ...editorScenes(company),
    ...formScenes(company),
    ...executionScenes(company),
    ...peopleScenes(),
    ...keepingScenes(),
  ]);
}

/** A page that shows all by itself. */
const shows = (name: string, path: string): Scene => ({
  name,
  path,
  open: (page) => page.getByRole('heading').first().waitFor(),
});

type Label = readonly [key: string, values?: { readonly [name: string]: string }];

/** Opens a menu by its button, and a dialog by an item of it. */
function chosen(name: string, path: string, [at, values]: Label, key?: string): Scene {
  return {
    name,
    path,
    async open(page, say) {
      await button(page, say(at, values)).click();
      await menu(page);
      if (key === undefined) return;
      await item(page, say(key)).click();
      await dialog(page);
    },
  };
}

/** A dialog that a button opens. */
const pressed = (name: string, path: string, [key, values]: Label): Scene => ({
  name,
  path,
  async open(page, say) {
    await button(page, say(key, values)).click();
    await dialog(page);
  },
});

function commandScenes(): readonly Scene[] {
  const open = async (page: Page, say: Say, search: string) => {
    await button(page, say('workflows.new')).focus();
    await page.keyboard.press('ControlOrMeta+K');
    await page.locator('[data-commands] input:focus').waitFor();
    await page.keyboard.type(search);
    await page.getByRole('option').nth(1).waitFor();
  };
  return [
    { name: 'commands', path: 'workflows', open: (page, say) => open(page, say, '') },
    { name: 'commands-search', path: 'workflows', open: (page, say) => open(page, say, '請求') },
  ];
}

function workflowScenes({ folderId }: Company): readonly Scene[] {
  const path = 'workflows';
  const more: Label = ['workflows.actionsNamed', { name: LOOP }];
  const selected = (name: string, action?: string): Scene => ({
    name,
    path,
    // The first Escape closes the list of its field.
    ...(action === 'move' || action === 'tag' ? { isHeld: true as const } : {}),
    async open(page, say) {
      const select = (text: string) =>
        page.getByRole('checkbox', { name: say('folders.bulk.selectNamed', { name: text }) }).check();
      await select(LOOP);
      await select('Orders');
      if (action === undefined) return;
      await page
        .getByRole('toolbar', { name: say('folders.bulk.label') })
        .getByRole('button', { name: say(`folders.bulk.action.${action}`) })
        .click();
      await dialog(page);
    },
  });
  return [
    pressed('workflow-new', path, ['workflows.new']),
    chosen('workflow-csv', path, more, 'workflows.csv.menu'),
    chosen('workflow-details', path, more, 'workflow.details'),
    chosen('workflow-duplicate', path, more, 'workflow.duplicate'),
    chosen('workflow-archive', path, more, 'workflows.archive'),
    chosen(
      'workflow-delete',
      `${path}?status=archived`,
      ['workflows.actionsNamed', { name: 'Former import' }],
      'workflows.deleteForGood',
    ),
    selected('workflows-selected'),
    selected('workflows-move', 'move'),
    selected('workflows-tag', 'tag'),
    selected('workflows-archive', 'archive'),
    shows('workflows-folder', `${path}?folder=${folderId}`),
    shows('workflows-favourites', `${path}?favourites=true`),
    shows('workflows-not-found', `${path}?search=zzzz`),
    {
      name: 'workflows-import-foreign',
      path,
      // Escape stays in the code.
      isHeld: true,
      async open(page, say) {
        await button(page, say('workflows.moreWays')).click();
        await item(page, say('workflows.import')).click();
        await dialog(page);
        await page.getByRole('textbox').last().fill('{"name": "x", "nodes": [');
      },
    },
    pressed('folder-new', path, ['folders.new']),
    shows('templates-not-found', 'templates?search=zzzz'),
    {
      name: 'template-details',
      path: 'templates',
      async open(page) {
        await page.getByRole('article').nth(1).getByRole('button').last().click();
        await dialog(page);
      },
    },
  ];
}

function editorScenes({ largeId, emptyId, loopId }: Company): readonly Scene[] {
  const at = (id: number, tab = '') => `workflows/${id}${tab}`;
  const openNode = async (page: Page, say: Say, title: string) => {
    await page.getByText(title, { exact: true }).first().click();
    await page.getByRole('tab', { name: say('forms.configure'), exact: true }).waitFor();
  };
  const openRun = async (page: Page, say: Say, choice: string) => {
    await button(page, say('workplace.trying.choose')).click();
    await item(page, say(`workplace.trying.${choice}`)).click();
  };
  const search = (name: string, text: string): Scene => ({
    name,
    path: at(loopId),
    async open(page, say) {
      await button(page, say('editor.addNode')).click();
      await page.getByRole('option').first().waitFor();
      await page.keyboard.type(text);
    },
  });
  return [
    shows('editor-empty', at(emptyId)),
    shows('editor-large', at(largeId)),
    shows('editor-loop', at(loopId)),
    search('editor-palette-search', 'llm'),
    search('editor-palette-nothing', 'zzqx'),
    {
      name: 'editor-status-menu',
      path: at(loopId),
      async open(page, say) {
        await button(page, say('workplace.changeStatus', { status: say('workflow.status.draft') })).click();
        await menu(page);
      },
    },
    chosen('editor-run-menu', at(loopId), ['workplace.trying.choose']),
    { name: 'editor-run-form', path: at(loopId), open: (page, say) => openRun(page, say, 'withForm') },
    { name: 'editor-run-json', path: at(loopId), open: (page, say) => openRun(page, say, 'withJson') },
    { name: 'editor-run-past', path: at(loopId), open: (page, say) => openRun(page, say, 'withPast') },
    {
      name: 'editor-node-wide',
      path: at(loopId),
      async open(page, say) {
        await openNode(page, say, 'Report');
        if (!isNarrow(page)) await page.keyboard.press('F2');
      },
    },
    {
      name: 'editor-loop-node',
      path: at(loopId),
      open: (page, say) => openNode(page, say, 'Each customer'),
    },
    {
      name: 'editor-schedule',
      path: at(largeId),
      open: (page, say) => openNode(page, say, say('workflows.triggerName.schedule')),
    },
    shows('editor-executions', at(loopId, '/executions')),
    shows('editor-versions-tab', at(loopId, '/versions')),
    shows('editor-settings-tab', at(loopId, '/settings')),
    shows('editor-version', at(loopId, '?version=1')),
    shows('editor-version-missing', at(loopId, '?version=99')),
    shows('editor-not-found', at(999_999)),
    chosen('editor-details', at(loopId), ['workplace.more'], 'workflow.details'),
  ];
}

/** The form of each type of node. */
function formScenes({ nodesId, nodeTypes }: Company): readonly Scene[] {
  return nodeTypes.map((type, index) => ({
    name: `form-${type}`,
    path: `workflows/${nodesId}`,
    async open(page, say) {
      if (!isNarrow(page)) await button(page, say('editor.showList')).click();
      await page.getByRole('table').locator('tbody tr').nth(index).getByRole('button').first().click();
      // A node with problems says so in the name of the tab.
      await page.getByRole('tab', { name: say('forms.configure') }).waitFor();
    },
  }));
}

function executionScenes(company: Company): readonly Scene[] {
  const { loopExecutionId, waitingId, testId, cancelledId } = company;
  return [
    shows('executions-not-found', 'executions?text=zzzz'),
    chosen('executions-views', 'executions?status=failed', ['runs.views.title']),
    chosen('executions-save-view', 'executions?status=failed', ['runs.views.title'], 'runs.views.save'),
    {
      name: 'executions-rerun',
      path: 'executions?status=failed',
      async open(page, say) {
        await page.locator('[data-execution]').first().getByRole('checkbox').check();
        await page
          .getByRole('toolbar', { name: say('runs.bulk.label') })
          .getByRole('button', { name: `${say('runs.bulk.action.rerun')} (1)`, exact: true })
          .click();
        await dialog(page);
      },
    },
    shows('execution-waiting', `executions/${waitingId}`),
    shows('execution-test', `executions/${testId}?node=send`),
    shows('execution-cancelled', `executions/${cancelledId}`),
    shows('execution-loop', `executions/${loopExecutionId}`),
    shows('execution-iterations', `executions/${loopExecutionId}?node=ask`),
    shows('execution-log', `executions/${loopExecutionId}?node=sum`),
    shows('execution-missing', 'executions/999999'),
    {
      name: 'execution-table',
      path: `executions/${loopExecutionId}`,
      open: (page, say) => page.getByText(say('executions.detail.asTable'), { exact: true }).click(),
    },
    pressed('execution-cancel', `executions/${waitingId}`, ['executions.action.cancel']),
    chosen('execution-rerun-menu', `executions/${loopExecutionId}`, ['executions.action.rerun']),
    shows('compare-nothing', 'executions/compare'),
    shows('compare-different', `executions/compare?a=${loopExecutionId}&b=${waitingId}`),
    pressed('approval-decide', 'approvals', ['executions.approvals.approve']),
    shows('approvals-decided', 'approvals?state=decided'),
  ];
}

function peopleScenes(): readonly Scene[] {
  return [
    {
      name: 'invitations',
      path: 'members',
      open: (page, say) => page.getByRole('tab', { name: say('people.invitations') }).click(),
    },
    {
      name: 'invitation-link',
      path: 'members',
      async open(page, say) {
        await button(page, say('people.invite')).click();
        await dialog(page);
        await button(page, say('people.makeLink')).click();
        await page.getByText(say('people.linkText')).waitFor();
      },
    },
    pressed('member-remove', 'members', ['people.removeNamed', { email: 'viewer@example.com' }]),
    pressed('organisation-new', 'organisations', ['people.newOrganisation']),
    shows('accounts-not-found', 'accounts?search=zzzz'),
    pressed('account-remove', 'accounts', ['people.removeAccountNamed', { email: 'viewer@example.com' }]),
    shows('setup', '/setup'),
    shows('setup-token', '/setup#token=x'),
    {
      name: 'account-password',
      path: '/account',
      async open(page, say) {
        await page.getByLabel(say('account.currentPassword'), { exact: true }).fill('wrong');
        await page.getByLabel(say('account.newPassword'), { exact: true }).fill('short');
        await button(page, say('account.changePassword')).click();
        await page.locator('[aria-invalid="true"]').first().waitFor();
      },
    },
  ];
}

function keepingScenes(): readonly Scene[] {
  const shop: Label = ['credentials.actionsNamed', { name: 'Shop' }];
  const key = (name: string): Label => ['keys.actionsNamed', { name }];
  const type = (name: string, title: string): Scene => ({
    name: `credential-${name}`,
    path: 'credentials',
    async open(page, say) {
      await button(page, say('credentials.add')).click();
      await dialog(page);
      await page.getByRole('combobox', { name: say('credentials.type') }).click();
      await page
        .getByRole('option', { name: say(title) })
        .first()
        .click();
    },
  });
  const types = [
    'basic',
    'smtp',
    'sql',
    'ai',
    'chat',
    'oauth2',
    'google_service_account',
    'aws',
    'jwt',
    'client_certificate',
  ];
  return [
    chosen('credential-menu', 'credentials', shop),
    chosen('credential-test', 'credentials', shop, 'credentials.test.action'),
    chosen('credential-expiry', 'credentials', shop, 'credentials.expiry'),
    chosen('credential-usage', 'credentials', shop, 'credentials.usage'),
    chosen('credential-delete', 'credentials', shop, 'credentials.remove'),
    pressed('credential-edit', 'credentials', ['credentials.editTitle', { name: 'Orders database' }]),
    ...types.map((each) => type(each, `credentials.types.${each}.title`)),
    chosen('key-menu', 'keys', key('Reports')),
    chosen('key-rotate', 'keys', key('Reports'), 'keys.rotate'),
    chosen('key-revoke', 'keys', key('Reports'), 'keys.revoke'),
    chosen('key-unlock', 'keys', key('Warehouse'), 'keys.unlock'),
    {
      name: 'keys-ended',
      path: 'keys',
      open: (page, say) => page.getByLabel(say('keys.showEnded')).check(),
    },
    {
      name: 'key-secret',
      path: 'keys',
      isHeld: true,
      async open(page, say) {
        await button(page, say('keys.issue')).click();
        await dialog(page);
        await page.getByLabel(say('keys.name')).fill('倉庫システム');
        await page.getByLabel(say('keys.scope.executions_execute')).check();
        await page
          .getByRole('dialog')
          .getByRole('button', { name: say('keys.issueAction') })
          .click();
        await page.getByText(say('keys.secretHint')).waitFor();
      },
    },
    chosen('alert-menu', 'alerts', ['alerts.actionsNamed', { name: 'Any failure' }]),
    chosen('alert-delete', 'alerts', ['alerts.actionsNamed', { name: 'Any failure' }], 'common.delete'),
    pressed('alert-edit', 'alerts', ['alerts.editTitle', { name: 'Slow' }]),
    chosen('audit-export', 'audit', ['audit.export']),
    shows('audit-not-found', 'audit?who=zzzz'),
    {
      name: 'audit-details',
      path: 'audit',
      open: (page, say) =>
        page
          .getByRole('button', { name: new RegExp(`^${say('audit.showDetails', { id: '' }).split(' ')[0]}`) })
          .first()
          .click(),
    },
  ];
}
