import { listTemplates } from '@millrace/service/templates/catalogue';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, expect, test } from 'vitest';

let service: TestService;
let editor: TestPerson;
beforeAll(async () => {
  service = await startTestService({ runsWorker: false });
  editor = await createPerson(service, 'editor');
});
afterAll(() => service.stop());

const params = () => ({ org: editor.organisationId });

async function gallery() {
  return (await editor.call('GET /orgs/:org/templates', { params: params() })).data.items;
}

function create(body: object) {
  return editor.call('POST /orgs/:org/workflows', { params: params(), body: body as never });
}

test('the gallery shows every example with the values to set', async () => {
  const templates = await listTemplates();
  const items = await gallery();
  expect(items.map((item) => item.id)).toEqual(templates.map((template) => template.id));
  for (const item of items)
    expect([item.name === '', item.node_types.length === 0, item.trigger_type === null]).toEqual([
      false,
      false,
      false,
    ]);
  const refund = items.find((item) => item.id === 'refund-approval');
  expect(refund?.setup.find((step) => step.var === 'chat_credential')?.credential_types).toEqual(['chat']);
  const payment = items.find((item) => item.id === 'payment-reminder');
  // Named by a pointer into the trigger, and by a variable.
  expect(payment?.setup.find((step) => step.var === 'stripe_credential')?.credential_hosts).toEqual([
    ['api.stripe.com'],
  ]);
  expect(payment?.setup.find((step) => step.var === 'mail_credential')?.credential_hosts).toEqual([]);
  const tickets = items.find((item) => item.id === 'ticket-agent');
  expect(tickets?.setup.map((step) => step.credential_hosts)).toContainEqual([['*.zendesk.com']]);
  expect(refund?.setup.every((step) => step.value !== null)).toBe(true);
});

test('the gallery says what new credentials begin with, as the connectors of the nodes do', async () => {
  const items = await gallery();
  const startOf = (id: string, name: string) =>
    items.find((item) => item.id === id)?.setup.find((step) => step.var === name)?.new_credential;
  expect(startOf('signup-sheet', 'google_credential')).toMatchObject({
    name: 'Google Sheets',
    hosts: ['sheets.googleapis.com'],
    fields: { oauth2: { service: 'google', scope: 'https://www.googleapis.com/auth/spreadsheets' } },
  });
  // The host is named by variables, also where a trigger's own setting is asked for.
  expect(startOf('issue-to-jira', 'jira_credential')?.host).toBe('{{site}}.atlassian.net');
  expect(startOf('orders-to-notion', 'shopify_credential')).toMatchObject({
    host: '{{shop}}.myshopify.com',
    fields: { header: { name: 'X-Shopify-Access-Token' } },
  });
  // Of two services with the same host and scopes.
  expect(startOf('receipt-mail', 'microsoft_credential')).toMatchObject({
    name: 'Microsoft OneDrive, Microsoft Excel',
    hosts: ['graph.microsoft.com'],
    fields: { oauth2: { service: 'microsoft' } },
  });
  expect(startOf('refund-approval', 'chat_credential')).toBeNull();
});

test('every template becomes a workflow with its companions and its sample', async () => {
  for (const { id, companions, samples } of await gallery()) {
    const { status, data, text } = await create({ template: { id } });
    expect(status, `${id}: ${text}`).toBe(200);
    expect(data.workflow.status).toBe('draft');
    expect(data.companions.map((row) => row.name)).toEqual(companions.map((each) => each.name));
    const sample = await editor.call('GET /orgs/:org/workflows/:id/sample', {
      params: { ...params(), id: data.workflow.id },
    });
    expect(sample.data.sample?.data, id).toEqual(samples[0]?.data);
  }
});

test('values are filled in, and the name can be changed', async () => {
  const [step] = (await gallery()).find((item) => item.id === 'event-router')?.setup ?? [];
  const name = step?.var ?? '';
  const { data } = await create({
    name: 'Mine',
    template: { id: 'event-router', vars: { [name]: 'https://mine.example' } },
  });
  expect(data.workflow.name).toBe('Mine');
  expect(JSON.stringify(data.workflow.flow_data)).toContain('https://mine.example');
  const again = (await gallery()).find((item) => item.id === 'event-router');
  expect(again?.setup[0]?.value).toBe(step?.value);
});

test('a credential that was not chosen is a problem at each node that needs it', async () => {
  const problemsOf = async (id: string, vars: object) => {
    const { data } = await create({ template: { id, vars } });
    return data.workflow.problems.map(({ code, message }) => [code, /constant "(\w+)"/.exec(message)?.[1]]);
  };
  const shop = ['empty_config', 'shop_credential'];
  const chat = ['empty_config', 'chat_credential'];
  expect(await problemsOf('fan-out', {})).toEqual([shop, chat]);
  expect(await problemsOf('fan-out', { shop_credential: 4711 })).toEqual([
    chat,
    ['credential_not_found', 'shop_credential'],
  ]);
  // One selected on the node itself, like the secret of a webhook.
  expect(await problemsOf('github-issue-to-chat', {})).toEqual([['empty_config', undefined], chat]);
});

test.each([
  [{ template: { id: 'no-such' } }, '/template/id'],
  [{ template: { id: '../examples' } }, '/template/id'],
  [{ template: { id: 'event-router', vars: { no_such: 1 } } }, '/template/vars/no_such'],
  [{ template: { id: 'event-router' }, flow_data: { nodes: [], edges: [] } }, '/flow_data'],
])('422: %j', async (body, pointer) => {
  const answer = await create(body);
  expect([answer.status, answer.json.errors[0]?.pointer]).toEqual([422, pointer]);
  const rows = await service.database.db.query('SELECT id FROM workflows WHERE name = $1', ['never']);
  expect(rows).toEqual([]);
});

test('the first steps are done once they have happened, whoever did them', async () => {
  const admin = await createPerson(service, 'org_admin');
  const org = { org: admin.organisationId };
  const read = async (who: TestPerson) =>
    (await who.call('GET /orgs/:org/first-steps', { params: org })).data;
  const doneFor = async (who: TestPerson) =>
    (await read(who)).items.map(({ step, is_done: isDone }) => `${step} ${isDone}`);
  expect(await doneFor(admin)).toEqual(['run false', 'template false', 'key false', 'invite false']);

  const makeFrom = async (id: string) =>
    (await admin.call('POST /orgs/:org/workflows', { params: org, body: { template: { id } } })).data.workflow
      .id;
  const sample = await makeFrom('greeting');
  expect(await read(admin)).toMatchObject({ sample_workflow_id: sample });
  // It comes with an installation, as the first key does.
  await service.createKey({ organisationId: admin.organisationId });
  expect(await doneFor(admin)).toEqual(['run false', 'template false', 'key false', 'invite false']);

  const run = { params: { ...org, id: sample }, body: { input: {} } };
  expect((await admin.call('POST /orgs/:org/workflows/:id/run', run)).status).toBe(200);
  expect(await doneFor(admin)).toEqual(['run true', 'template false', 'key false', 'invite false']);
  await makeFrom('fan-out');
  expect(await doneFor(admin)).toEqual(['run true', 'template true', 'key false', 'invite false']);
  const key = { name: 'Shop', scopes: ['workflows:read'] as const, expires_at: null };
  await admin.call('POST /orgs/:org/keys', { params: org, body: { ...key, scopes: [...key.scopes] } });
  expect(await doneFor(admin)).toEqual(['run true', 'template true', 'key true', 'invite false']);
  await admin.call('POST /orgs/:org/invitations', { params: org, body: { role: 'viewer' } });
  expect(await doneFor(admin)).toEqual(['run true', 'template true', 'key true', 'invite true']);

  // Only what their role allows.
  const colleague = await createPerson(service, 'editor', { organisationId: admin.organisationId });
  expect(await doneFor(colleague)).toEqual(['run true', 'template true']);
  await admin.call('POST /orgs/:org/workflows/:id/archive', { params: { ...org, id: sample } });
  expect((await read(admin)).sample_workflow_id).toBeNull();
  expect((await editor.call('GET /orgs/:org/first-steps', { params: org })).status).toBe(404);
});

test('a second member counts as invited: single sign-on needs no invitation', async () => {
  const first = await createPerson(service, 'org_admin');
  const params = { org: first.organisationId };
  const isInvited = async () =>
    (await first.call('GET /orgs/:org/first-steps', { params })).data.items.at(-1)?.is_done;
  expect(await isInvited()).toBe(false);
  await createPerson(service, 'viewer', { organisationId: first.organisationId });
  expect(await isInvited()).toBe(true);
});
