import type { HttpClient } from '@millrace/engine';
import { createPerson } from '@millrace/testing/admin';
import { createTestServices } from '@millrace/testing/service';
import { expect, test } from 'vitest';
import { usePolling } from './world.ts';

const world = usePolling();
const { url, poller, create, change, poll, started, stateOf } = world;

/** Gmail, as far as the service can tell: its client reaches the test's server under Gmail's address. */
async function pollGmail(person: Awaited<ReturnType<typeof createPerson>>) {
  const toGmail = (organisationId: number): HttpClient => {
    const client = world.service.deps.egress.http(organisationId);
    return {
      send: (request, ...rest) =>
        client.send(
          { ...request, url: request.url.replace('https://gmail.googleapis.com', url('')) },
          ...rest,
        ),
    };
  };
  const egress = Object.create(world.service.deps.egress, {
    http: { value: toGmail },
  }) as typeof world.service.deps.egress;
  const made = createTestServices({ ...world.service.deps, egress });
  const params = { org: person.organisationId };
  const fields = { token: 'a-secret-token' };
  const body = { name: 'mail', type: 'bearer', hosts: ['gmail.googleapis.com'], fields };
  const credential = (await person.call('POST /orgs/:org/credentials', { params, body })).data.id;
  const id = await create({ credential_id: credential }, 'trigger.gmail.new_message');
  const by = poller({ services: made.services, http: toGmail });
  return { id, credential, poll: () => poll(id, by), close: () => made.services.close() };
}

test('reads each new item where the list has too little, and starts none that is gone', async () => {
  const person = await createPerson(world.service, 'org_admin');
  world.key = await world.service.createKey({ organisationId: person.organisationId });
  const mail = await pollGmail(person);
  let listed = ['m1'];
  let broken = false;
  world.source = () => {
    const path = world.requests.at(-1)?.split('?')[0] ?? '';
    const [, id] = /messages\/(\w+)$/.exec(path) ?? [];
    if (id === undefined) return { body: { messages: listed.map((each) => ({ id: each })) } };
    if (id === 'm2') return { status: 404, body: { error: { message: 'gone' } } };
    return broken ? { status: 500, body: {} } : { body: { id, snippet: 'see a-secret-token' } };
  };
  await mail.poll();
  // What was there isn't read.
  expect(world.requests.map((path) => path.split('?')[0])).toEqual(['/gmail/v1/users/me/messages']);
  listed = ['m3', 'm2', 'm1'];
  broken = true;
  await mail.poll();
  expect(await started(mail.id)).toEqual([]);
  expect(await stateOf(mail.id)).toMatchObject({ failures: 1, code: 'connector_unavailable' });
  broken = false;
  await mail.poll();
  expect(await started(mail.id)).toEqual([{ id: 'm3', snippet: 'see ***' }]);
  world.requests = [];
  await mail.poll();
  expect(world.requests).toHaveLength(1);
  expect(await stateOf(mail.id)).toMatchObject({ failures: 0, code: null });
  await mail.close();
});

test('reads and starts no more items at a time than a poll has time for, and loses none', async () => {
  const person = await createPerson(world.service, 'org_admin');
  world.key = await world.service.createKey({ organisationId: person.organisationId });
  const mail = await pollGmail(person);
  let listed: string[] = [];
  world.source = () => {
    const [, id] = /messages\/(\w+)/.exec(world.requests.at(-1) ?? '') ?? [];
    return { body: id === undefined ? { messages: listed.map((each) => ({ id: each })) } : { id } };
  };
  await mail.poll();
  // Newest first, as Gmail lists them.
  listed = Array.from({ length: 30 }, (_, at) => `m${30 - at}`);
  await mail.poll();
  expect(await started(mail.id)).toHaveLength(25);
  expect((await stateOf(mail.id)).pause_s).toBe(5);
  world.requests = [];
  await mail.poll();
  expect(world.requests).toHaveLength(1 + 5);
  expect(await started(mail.id)).toEqual(listed.toReversed().map((id) => ({ id })));
  await mail.close();
});

test('several triggers of a workflow poll on their own: each item starts an execution at its trigger', async () => {
  world.source = () => ({ body: { items: [{ id: 'same' }] } });
  const trigger = (id: string, path: string) => ({
    ...{ id, type: 'trigger.poll' },
    data: { config: { url: url(path), list_path: 'items', interval_s: 60, existing: 'start' } },
  });
  const flow = (...ids: string[]) => ({
    nodes: [{ id: 'manual', type: 'trigger.manual', data: {} }, ...ids.map((id) => trigger(id, `/${id}`))],
    edges: [],
  });
  const body = { name: 'polls', flow_data: flow('one', 'two'), status: 'active' };
  const created = await world.service.api('POST', '/workflows', { key: world.key, body });
  expect(created.status, created.text).toBe(201);
  const { id } = created.json;
  await poll(id);
  await poll(id);
  expect(world.requests.toSorted()).toEqual(['/one', '/one', '/two', '/two']);
  const rows = await world.service.database.db.query<{ id: number }>(
    'SELECT id FROM executions WHERE workflow_id = $1 ORDER BY id',
    [id],
  );
  const starts = await Promise.all(
    rows.map((row) => world.service.api('GET', `/executions/${row.id}`, { key: world.key })),
  );
  const triggers = starts.map(({ json }) => Object.keys(json.node_outputs as object).join());
  expect(triggers.toSorted()).toEqual(['one', 'two']);
  // One is removed: the other goes on, and knows what it has found.
  await change(id, { flow_data: flow('two') });
  const due = await world.service.database.db.query(
    'SELECT node_id FROM polls WHERE workflow_id = $1 AND next_poll_at IS NOT NULL',
    [id],
  );
  expect(due).toEqual([{ node_id: 'two' }]);
  await world.service.database.db.query("UPDATE polls SET next_poll_at = now() WHERE node_id = 'two'");
  await poller().runDue();
  expect(await started(id)).toHaveLength(2);
});

test('two triggers of a service in one workflow keep positions and items of their own', async () => {
  const person = await createPerson(world.service, 'org_admin');
  world.key = await world.service.createKey({ organisationId: person.organisationId });
  const mail = await pollGmail(person);
  world.source = () => ({
    body:
      world.requests.at(-1)?.includes('/messages/') === true ? { id: 'm1' } : { messages: [{ id: 'm1' }] },
  });
  const trigger = (id: string) => ({
    ...{ id, type: 'trigger.gmail.new_message' },
    data: { config: { credential_id: mail.credential, query: `label:${id}`, existing: 'start' } },
  });
  await change(mail.id, { flow_data: { nodes: [trigger('one'), trigger('two')], edges: [] } });
  await mail.poll();
  await mail.poll();
  expect(await started(mail.id)).toHaveLength(2);
  const since: { readonly [id: string]: string } = {
    one: '2026-01-01T00:00:00Z',
    two: '2026-01-02T00:00:00Z',
  };
  for (const [id, time] of Object.entries(since)) {
    const text = JSON.stringify({ since: time });
    await world.service.database.db.query('UPDATE polls SET position = $2::json WHERE node_id = $1', [
      id,
      text,
    ]);
  }
  world.requests = [];
  await mail.poll();
  const asked = world.requests.map((path) => new URL(path, 'http://x').searchParams.get('q') ?? '');
  expect(new Set(asked)).toEqual(new Set(['label:one after:1767225600', 'label:two after:1767312000']));
  expect(await started(mail.id)).toHaveLength(2);
  await mail.close();
});
