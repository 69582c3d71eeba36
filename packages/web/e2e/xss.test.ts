import { randomBytes } from 'node:crypto';
import { prepareSecretKeys } from '@millrace/secrets/keys';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import type { Language } from '@millrace/ui/i18n/languages.ts';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { editorOf } from './support/editor.ts';
import { closeByEscape } from './support/focused.ts';
import { LISTS, settle } from './support/places.ts';
import { addressIn } from './support/scenes.ts';
import { type Findings, type Inspector, once, walk } from './support/walk.ts';

/** Markup, scripts and script URLs in every stored string: none of it may ever run. */
const EVIL = `"'><img src=x onerror="attacked='img'"><svg onload="attacked='svg'"></svg><script>attacked='script'</script>`;
const LINK = `javascript:attacked='link'`;
/** Without template syntax: allowed in node fields. */
const LINKS = `${EVIL}[x](${LINK})<a href="${LINK}">x</a>`;
/** Also with a right-to-left override, where that is accepted: not in names. */
const MARKUP = `${LINKS}\u202e`;
const TEMPLATE = `{{constructor.constructor("attacked=1")()}}`;
/** Email addresses can't contain white space. */
const EVIL_EMAIL = `<img/src=x/onerror=attacked=1>@<svg/onload=attacked=1>`;

let world: BrowserService;
let person: TestPerson;
let places: { readonly [name: string]: string };
beforeAll(async () => {
  world = await openBrowserService({ config: { secretKeys: { current: randomBytes(32), previous: [] } } });
  const { db, secretKeys } = world.service.deps;
  await prepareSecretKeys(db, secretKeys, { makesKey: true });
  person = await createPerson(world.service, 'system_admin', { email: EVIL_EMAIL });
  await plantPeople();
  places = await plantWorkflow();
});
afterAll(() => world.stop());

async function plantPeople(): Promise<void> {
  const { call, organisationId: org } = person;
  const params = { org };
  await call('PATCH /me', { body: { name: `person ${EVIL}` } });
  await call('PATCH /orgs/:org', { params, body: { name: `organisation ${EVIL}` } });
  await world.service.database.db.query('UPDATE sessions SET user_agent = $1', [`Mozilla/5.0 ${MARKUP}`]);
  await call('POST /orgs/:org/invitations', { params, body: { role: 'viewer', email: `x${EVIL_EMAIL}` } });
  await call('POST /organisations', { body: { name: `other ${EVIL}` } });
  const key = { name: `key ${EVIL}`, scopes: ['workflows:read' as const], expires_at: null };
  await call('POST /orgs/:org/keys', { params, body: key });
  const stored = await call('POST /orgs/:org/credentials', {
    params,
    body: {
      name: `credential ${EVIL}`,
      type: 'basic',
      hosts: ['a.example'],
      fields: { username: EVIL, password: 'x' },
    },
  });
  expect(stored.status, stored.text).toBe(200);
  // Clients can send any user agent and email address.
  await fetch(`${world.url}/api/admin/sign-in`, {
    method: 'POST',
    headers: { 'sec-fetch-site': 'same-origin', 'user-agent': EVIL, 'content-type': 'application/json' },
    body: JSON.stringify({ email: EVIL_EMAIL, password: EVIL }),
  });
}

const node = (id: string, type: string, x: number, config: object) => ({
  id,
  type,
  position: { x, y: 80 },
  data: {
    label: `${id} ${EVIL}${TEMPLATE}`.slice(0, 255),
    config,
    icon: LINK,
    color: `red;background:url(${LINK})`,
  },
});

const EVIL_ID = `set ${EVIL}`;

const EVIL_FLOW = {
  nodes: [
    node('start', 'trigger.webhook', 0, {}),
    node(EVIL_ID, 'core.set', 260, { values: { html: MARKUP, url: LINK, [MARKUP]: { [EVIL]: LINK } } }),
    node('code', 'core.code', 520, {
      code: `console.log(${JSON.stringify(MARKUP)}); return { html: input.html };`,
      input: { html: MARKUP },
    }),
    node('fail', 'core.fail', 780, { code: 'evil', message: `message ${MARKUP}` }),
  ],
  edges: [
    { id: 'e1', source: 'start', target: EVIL_ID },
    { id: 'e2', source: EVIL_ID, target: 'code' },
    { id: 'e3', source: 'code', target: 'fail' },
  ],
  settings: {
    display_name: `run ${MARKUP}`,
    vars: { evil: MARKUP },
    notes: [
      {
        id: 'n',
        text: `note ${MARKUP}${TEMPLATE}`,
        colour: LINK,
        position: { x: 0, y: 300 },
        width: 300,
        height: 120,
      },
    ],
  },
};

const ASKING_FLOW = {
  nodes: [
    node('start', 'trigger.manual', 0, {}),
    node('ask', 'wait.approval', 300, {
      title: `title ${MARKUP}`,
      text: `text ${MARKUP}`,
      choices: [{ id: 'go', label: `go ${EVIL}`.slice(0, 60) }],
    }),
  ],
  edges: [{ source: 'start', target: 'ask' }],
};

async function create(name: string, flow: object): Promise<number> {
  const { status, data, text } = await person.call('POST /orgs/:org/workflows', {
    params: { org: person.organisationId },
    body: {
      name: `${name} ${LINKS}`.slice(0, 255),
      description: `description ${MARKUP}`,
      tags: [EVIL.slice(0, 64), LINK],
      flow_data: flow as never,
    },
  });
  expect(status, text).toBe(200);
  return data.workflow.id;
}

async function run(id: number, input: object): Promise<number> {
  const { status, data, text } = await person.call('POST /orgs/:org/workflows/:id/run', {
    params: { org: person.organisationId, id },
    body: { input: input as never },
  });
  expect(status, text).toBe(200);
  return data.execution_id;
}

async function plantWorkflow(): Promise<typeof places> {
  const { call, organisationId: org } = person;
  const id = await create('workflow', EVIL_FLOW);
  const at = { params: { org, id } };
  const saved = await call('POST /orgs/:org/workflows/:id/versions', {
    ...at,
    body: {
      flow_data: { ...EVIL_FLOW, viewport: { x: 1, y: 1, zoom: 1 } } as never,
      base_version: 1,
      message: `message ${EVIL}`,
    },
  });
  expect(saved.status, saved.text).toBe(200);
  const input = { [EVIL]: MARKUP, url: LINK };
  await call('PUT /orgs/:org/workflows/:id/sample', { ...at, body: { data: input } });
  await run(await create('asking', ASKING_FLOW), input);
  const [first, second] = [await run(id, input), await run(id, {})];
  const key = await world.service.createKey({ organisationId: org });
  // Responds once the execution has ended.
  for (const each of [first, second]) await world.service.api('GET', `/executions/${each}?wait=60`, { key });
  return {
    ...Object.fromEntries(LISTS.map((name) => [name, name])),
    editor: `workflows/${id}`,
    execution: `executions/${first}`,
    compare: `executions/compare?a=${first}&b=${second}`,
    account: '/account',
  };
}

/** Records attacks, from before the page's first script. */
async function watch(page: Page): Promise<void> {
  const script = await page.addInitScript(() => {
    const seen: string[] = [];
    Object.defineProperty(window, 'seenViolations', { value: seen });
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) => {
      seen.push(`${violatedDirective} ${blockedURI} ${sample}`);
    });
  });
  onTestFinished(() => script.dispose());
}

/** What ran, was about to, or is present and could. */
const findActive: Inspector = (page) =>
  page.evaluate(() => {
    const { attacked, seenViolations } = window as unknown as { attacked?: string; seenViolations: string[] };
    const all = [...document.querySelectorAll('*')];
    const handlers = all.flatMap((element) =>
      [...element.attributes]
        .filter(({ name }) => name.startsWith('on'))
        .map(({ name }) => `${element.tagName} ${name}`),
    );
    const links = all.flatMap((element) =>
      ['href', 'src', 'action', 'formaction', 'xlink:href', 'data']
        .map((name) => element.getAttribute(name) ?? '')
        .filter((value) => /^\s*(javascript|data:text|vbscript)/i.test(value) || value === 'x'),
    );
    const foreign = [...document.querySelectorAll('script, iframe, object, embed, base, meta[http-equiv]')]
      .filter((element) => !(element.getAttribute('src') ?? '').startsWith('/assets/'))
      .map(({ outerHTML }) => outerHTML);
    return [
      ...(attacked === undefined ? [] : [attacked]),
      ...seenViolations,
      ...handlers,
      ...links,
      ...foreign,
    ];
  });

async function expectInert(page: Page): Promise<void> {
  expect(await findActive(page)).toEqual([]);
}

const PLACES = [...LISTS, 'editor', 'execution', 'compare', 'account'];
/** These show nothing of what is stored. */
const EMPTY = new Set(['system', 'templates', 'compare']);

async function walkPlaces(language: Language): Promise<Findings> {
  const opened = await world.openFor(person, '/account', { language, prepare: watch });
  const stops = PLACES.map((name) => ({
    name,
    address: addressIn(world.url, person.organisationId, places[name] ?? ''),
    open: async (page: Page) => {
      if (!EMPTY.has(name)) await page.getByText('onerror=').first().waitFor({ state: 'attached' });
    },
  }));
  const { findActive: found } = await walk(opened.page, stops, { findActive });
  expectNoComplaints(opened);
  return found;
}

describe.each(['en', 'ja'] as const)('stored content never runs, and is shown as text (%s)', (language) => {
  const found = once(() => walkPlaces(language));
  test.each(PLACES)('%s', async (name) => {
    expect((await found())[name]).toBeUndefined();
  });
});

describe('what opens on a page', () => {
  async function openPage(name: string): Promise<{ page: Page; done: () => Promise<void> }> {
    const opened = await world.openFor(person, places[name] ?? '', { prepare: watch });
    await settle(opened.page);
    const done = async (): Promise<void> => {
      await expectInert(opened.page);
      expectNoComplaints(opened);
    };
    return { page: opened.page, done };
  }

  test('a node of an execution, with its output, its log and its error', async () => {
    const { page, done } = await openPage('execution');
    for (const start of ['set', 'code', 'fail']) {
      await page
        .getByRole('button', { name: `${start} "'>`, exact: false })
        .first()
        .click();
      await expectInert(page);
    }
    await done();
  });

  test('a node of the editor, and the history of versions', async () => {
    const { page, done } = await openPage('editor');
    for (const node of await page.locator('.react-flow__node').all()) {
      await node.click({ position: { x: 20, y: 10 }, force: true });
      await expectInert(page);
    }
    await page.getByRole('link', { name: /Version history$/ }).click();
    const history = page.getByRole('region', { name: 'Version history' });
    await history.getByText(`message ${EVIL}`).first().waitFor();
    await expectInert(page);
    await done();
  });

  test('a node with such an id gets another handle', async () => {
    const { page, done } = await openPage('editor');
    const editor = editorOf(page);
    await editor.canvas.locator('.react-flow__node[data-id^="set "]').click();
    await editor.panel.getByRole('tab', { name: 'Errors and time' }).click();
    await editor.panel.getByRole('radio', { name: /^Take the error branch/ }).check();
    await editor.canvas.locator('.react-flow__handle[data-handleid="error"]').waitFor();
    await done();
  });

  test('the menus with the organisation and the person', async () => {
    const { page, done } = await openPage('workflows');
    await page.getByRole('button', { name: /: switch organisation$/ }).click();
    await page.getByRole('dialog').getByRole('link').first().waitFor();
    await closeByEscape(page.getByRole('dialog'));
    await page.getByRole('button', { name: /^Account menu/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
    await done();
  });

  test('notices of errors that repeat what was typed', async () => {
    const { page, done } = await openPage('organisations');
    await page.getByRole('button', { name: 'New organisation' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill(`organisation ${EVIL}`);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('dialog').getByText('An organisation with this name already exists.').waitFor();
    await done();
  });
});

describe('malicious links', () => {
  test.each([
    `/sign-in?next=${encodeURIComponent(LINK)}`,
    '/sign-in?next=//evil.example',
    '/sign-in?next=%2F%5Cevil.example',
    '/sign-in?next=%2F%09%2Fevil.example',
    '/sign-in?next=https%3A%2F%2Fevil.example',
    `/sign-in?problem=${encodeURIComponent(MARKUP)}`,
    `/sign-in?next=${encodeURIComponent('["/"]')}`,
    `/setup#token=${encodeURIComponent(MARKUP)}`,
    `/invitation#token=${encodeURIComponent(MARKUP)}`,
    `/o/${encodeURIComponent(EVIL)}/workflows`,
    `/o/1/workflows?search=${encodeURIComponent(MARKUP)}&status=${encodeURIComponent(EVIL)}`,
    `/o/1/executions/compare?a=${encodeURIComponent(EVIL)}&b=1`,
  ])('%s', async (path) => {
    const opened = await world.openPage({ prepare: watch });
    const { page } = opened;
    await page.goto(`${world.url}${path}`);
    await page.getByRole('heading').first().waitFor();
    await expectInert(page);
    expect(new URL(page.url()).origin).toBe(world.url);
    for (const link of await page.getByRole('link').all()) {
      const { origin, protocol } = await link.evaluate((element) => {
        const { origin, protocol } = element as HTMLAnchorElement;
        return { origin, protocol };
      });
      expect([origin, protocol]).toEqual([world.url, 'http:']);
    }
    expectNoComplaints(opened);
  });
});
