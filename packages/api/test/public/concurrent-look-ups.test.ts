import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { RUNNABLE_FLOW } from '@millrace/testing/flows';
import { startTestService, type TestKey, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';

/** A start's workflow is looked up beside a known key; what that finds counts only if the key is valid. */
let service: TestService;
let key: TestKey;
let workflowId: number;
let entered = Promise.withResolvers<void>();
let events: string[] = [];

beforeAll(async () => {
  service = await startTestService({
    runsWorker: false,
    // The key has been checked by then, and the body is still to come.
    extend: (app) => app.addHook('preParsing', async () => entered.resolve()),
  });
  const { db } = service.database;
  const query = db.query.bind(db);
  vi.spyOn(db, 'query').mockImplementation(async (text, values, name) => {
    events.push(`${name} sent`);
    const rows = await query(text, values, name);
    events.push(`${name} answered`);
    return rows as never;
  });
});
afterAll(() => service.stop());

beforeEach(async () => {
  key = await service.createKey();
  const created = await service.api('POST', '/workflows', {
    key,
    body: { name: 'early', flow_data: RUNNABLE_FLOW },
  });
  workflowId = Number(created.json.id);
  expect(await execute()).toBe(202);
  events = [];
});

async function execute(text = key.text): Promise<number> {
  const answer = await fetch(`${service.url}/api/v1/workflows/${workflowId}/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${text}`, 'content-type': 'application/json' },
    body: '{}',
  });
  await answer.arrayBuffer();
  return answer.status;
}

const countStarts = async () => {
  const [row] = await service.database.db.query<{ count: number }>(
    'SELECT count(*) AS count FROM executions WHERE workflow_id = $1',
    [workflowId],
  );
  return row?.count;
};

test('both are under way at the same time, once the key is known, and the workflow is looked up once', async () => {
  expect(await execute()).toBe(202);
  const lookUps = events.filter((event) => event.startsWith('look_up_starts'));
  expect(lookUps).toEqual(['look_up_starts sent', 'look_up_starts answered']);
  expect(events.indexOf('look_up_starts sent')).toBeLessThan(
    events.indexOf('find_keys_for_authentication answered'),
  );
});

test('a wrong secret of a known key looks nothing up', async () => {
  const other = await service.createKey();
  const wrong = `${key.text.slice(0, 16)}${other.text.slice(16)}`;
  expect(await execute(wrong)).toBe(401);
  expect(events).toContain('find_keys_for_authentication answered');
  expect(events).not.toContain('look_up_starts sent');
});

test('a key that was revoked meanwhile starts nothing', async () => {
  await service.database.db.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [key.id]);
  expect(await execute()).toBe(401);
  expect(events).toContain('look_up_starts sent');
  expect(await countStarts()).toBe(1);
});

test('a workflow that was archived while the body came in slowly is not started', async () => {
  entered = Promise.withResolvers();
  const answer = Promise.withResolvers<unknown>();
  const sent = request(`${service.url}/api/v1/workflows/${workflowId}/execute`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key.text}`,
      'content-type': 'application/json',
      'content-length': 2,
    },
  });
  sent.once('error', answer.reject);
  sent.once('response', (response) => {
    json(response).then(answer.resolve, answer.reject);
  });
  sent.write('{');
  await entered.promise;
  await service.database.db.query(`UPDATE workflows SET status = 'archived' WHERE id = $1`, [workflowId]);
  sent.end('}');
  expect(await answer.promise).toMatchObject({ code: 'workflow_archived' });
  expect(await countStarts()).toBe(1);
});
