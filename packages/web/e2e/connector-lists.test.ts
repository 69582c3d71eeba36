import { services } from '@millrace/connectors/services';
import type { JsonObject } from '@millrace/engine';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { type Outside, openOutside } from '@millrace/testing/outside';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { canvasNode } from './support/canvas.ts';
import { createWorkflow, editorOf, templateField } from './support/editor.ts';
import { focused } from './support/focused.ts';

/** Choices that the connectors of Slack, Discord and Teams list: their own files, at another address. */
let world: BrowserService;
let outside: Outside;
let person: TestPerson;
beforeAll(async () => {
  world = await openBrowserService({ runsWorker: false, config: { allowHosts: ['127.0.0.1'] } });
});
afterAll(() => world.stop());
beforeEach(async () => {
  outside = await openOutside();
  person = await createPerson(world.service, 'org_admin');
  return () => outside.close();
});

const TOKENS: { readonly [type: string]: JsonObject } = {
  bearer: { token: 'a-token' },
  header: { name: 'Authorization', value: 'Bot a-token' },
};

/** Opens the form of an operation of a service, with a credential for it. */
async function openOperation(
  id: string,
  { type, operation, uses }: { type: string; operation: string; uses: readonly string[] },
) {
  const { call, organisationId: org } = person;
  const known = services.find((each) => each.id === id);
  const { title, reason, errors, lists, headers } = known ?? {};
  const operations = known?.operations.filter((each) => [operation, ...uses].includes(each.id)) ?? [];
  const own = {
    ...{ id, title, reason, errors, lists, headers, base_url: `${outside.url}/api`, hosts: ['127.0.0.1'] },
    authentication: { types: [type], description: 'A token.' },
    operations: operations.map(({ exchanges: _exchanges, ...each }) => each),
  };
  const uploaded = await call('POST /orgs/:org/connectors', {
    params: { org },
    body: { file: JSON.stringify(own) },
  });
  expect([uploaded.status, uploaded.json.errors]).toEqual([200, undefined]);
  const { data: credential } = await call('POST /orgs/:org/credentials', {
    params: { org },
    body: { name: 'Chat', type, hosts: ['127.0.0.1'], fields: TOKENS[type] ?? {} },
  });
  const nodes = [
    { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 } },
    {
      ...{ id: 'tell', type: `own.${id}.${operation}`, position: { x: 300, y: 0 } },
      data: { config: { credential_id: credential.id } },
    },
  ];
  const edges = [{ id: 'a', source: 'start', target: 'tell' }];
  const workflowId = await createWorkflow(person, 'Telling', { nodes, edges });
  const opened = await world.openFor(person, `workflows/${workflowId}`, { height: 1000 });
  await canvasNode(opened.page, 'tell').click();
  const { panel } = editorOf(opened.page);
  const choose = (label: string) =>
    panel.getByRole('button', { name: `Choose ${label} from a list` }).click();
  const search = opened.page.getByRole('textbox', { name: 'Search', exact: true });
  return { opened, page: opened.page, panel, choose, search };
}

const CHANNELS = {
  ok: true,
  channels: [
    { id: 'C1', name: 'sales' },
    { id: 'C2', name: 'support' },
  ],
};

test('channels of Slack are found by name and filled in by ID; without the scope of private ones, the public ones', async () => {
  outside.on('GET /api/conversations.list', ({ query }) => ({
    body: query.types === 'public_channel' ? CHANNELS : { ok: false, error: 'missing_scope' },
  }));
  const { opened, page, panel, choose, search } = await openOperation('slack', {
    ...{ type: 'bearer', operation: 'send_message', uses: ['list_channels'] },
  });
  await choose('Channel');
  const options = page.getByRole('listbox', { name: 'Channel' }).getByRole('option');
  await expect.poll(() => options.allTextContents()).toEqual(['#salesC1', '#supportC2']);
  await focused(search);
  await page.keyboard.type('supp');
  await expect.poll(() => options.allTextContents()).toEqual(['#supportC2']);
  await options.first().click();
  await expect.poll(() => templateField(panel, 'Channel').textContent()).toBe('C2');
  expectNoComplaints(opened);
});

test('channels of Discord are grouped by server, without those for voice', async () => {
  outside.on('GET /api/users/@me/guilds', {
    body: [
      { id: '7', name: 'North' },
      { id: '8', name: 'South' },
    ],
  });
  outside.on('GET /api/guilds/7/channels', { body: [{ id: '71', name: 'general', type: 0 }] });
  outside.on('GET /api/guilds/8/channels', {
    body: [
      { id: '81', name: 'news', type: 5 },
      { id: '82', name: 'talk', type: 2 },
    ],
  });
  const { opened, page, panel, choose } = await openOperation('discord', {
    ...{ type: 'header', operation: 'send_message', uses: ['list_servers', 'list_channels'] },
  });
  await choose('Channel ID');
  const list = page.getByRole('listbox', { name: 'Channel ID' });
  await expect.poll(() => list.getByRole('option').allTextContents()).toEqual(['#general71', '#news81']);
  for (const server of ['North', 'South']) await list.getByText(server, { exact: true }).waitFor();
  await list.getByRole('option', { name: /news/ }).click();
  await expect.poll(() => templateField(panel, 'Channel ID').textContent()).toBe('81');
  expect(outside.received.map(({ headers }) => headers.authorization)).toEqual(
    outside.received.map(() => 'Bot a-token'),
  );
  expectNoComplaints(opened);
});

test('channels of Teams ask for the team first, and are those of the one that was chosen', async () => {
  outside.on('GET /api/me/joinedTeams', { body: { value: [{ id: 't1', displayName: 'Sales team' }] } });
  outside.on('GET /api/teams/t1/channels', { body: { value: [{ id: 'c9', displayName: 'General' }] } });
  const { opened, page, panel, choose } = await openOperation('microsoft_teams', {
    ...{ type: 'bearer', operation: 'send_channel_message', uses: ['list_teams', 'list_channels'] },
  });
  await choose('Channel ID');
  await page.getByText('Fill in Team ID first.').waitFor();
  await page.keyboard.press('Escape');
  await choose('Team ID');
  await page.getByRole('option', { name: /Sales team/ }).click();
  await expect.poll(() => templateField(panel, 'Team ID').textContent()).toBe('t1');
  await choose('Channel ID');
  await page.getByRole('option', { name: /General/ }).click();
  await expect.poll(() => templateField(panel, 'Channel ID').textContent()).toBe('c9');
  expectNoComplaints(opened);
});

test('a revoked token is reported, and what was mended is found by opening the list again', async () => {
  outside.on('GET /api/conversations.list', { body: { ok: false, error: 'token_revoked' } });
  const { opened, page, panel, choose, search } = await openOperation('slack', {
    ...{ type: 'bearer', operation: 'send_message', uses: ['list_channels'] },
  });
  await choose('Channel');
  const told = /^Slack doesn't accept the credential.*token_revoked\./;
  await page.getByRole('listbox', { name: 'Channel' }).getByText(told).waitFor();
  await focused(search);
  await page.keyboard.press('Escape');
  await search.waitFor({ state: 'detached' });
  // It stays at the field when the list is closed.
  await panel.getByText(told).waitFor();
  outside.on('GET /api/conversations.list', { body: CHANNELS });
  await choose('Channel');
  await page.getByRole('option', { name: /#sales/ }).click();
  await expect.poll(() => templateField(panel, 'Channel').textContent()).toBe('C1');
  await panel.getByText(told).waitFor({ state: 'detached' });
  expectNoComplaints(opened);
});

test('a response of 401 is reported with what the service says', async () => {
  outside.on('GET /api/me/joinedTeams', {
    status: 401,
    body: { error: { code: 'InvalidAuthenticationToken', message: 'Access token has expired' } },
  });
  const { opened, page, panel, choose, search } = await openOperation('microsoft_teams', {
    ...{ type: 'bearer', operation: 'send_channel_message', uses: ['list_teams', 'list_channels'] },
  });
  await choose('Team ID');
  const told = /^Microsoft Teams doesn't accept the credential.*Access token has expired\./;
  await page.getByRole('listbox', { name: 'Team ID' }).getByText(told).waitFor();
  await focused(search);
  await page.keyboard.press('Escape');
  await panel.getByText(told).waitFor();
  expectNoComplaints(opened);
});
