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
  expect(refund?.setup.every((step) => step.value !== null)).toBe(true);
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
