import { prune } from '@millrace/service/retention/prune';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWebhookWorld, type WebhookWorld } from './webhooks-world.ts';

let world: WebhookWorld;
beforeAll(async () => {
  world = await startWebhookWorld({ withWorker: false });
});
afterAll(() => world.service.stop());

const BY_ID = { deduplicate: { by: 'path', name: 'event.id' } } as const;
const event = (id: unknown, more: object = {}) => JSON.stringify({ event: { id }, ...more });

describe('an event with an id', () => {
  test('starts once; a repeat gets the first receipt, whatever else it contains', async () => {
    const { id, hash } = await world.createWebhook(BY_ID);
    const first = await world.call(hash, event('evt_1', { attempt: 1 }));
    const again = await world.call(hash, event('evt_1', { attempt: 2 }));
    expect([first.status, again.status]).toEqual([202, 202]);
    expect(first.json.message).toBe('The workflow was started.');
    expect(again.json).toEqual({
      success: true,
      execution_id: first.json.execution_id,
      message: expect.stringContaining('already received'),
      captured: false,
    });
    expect(await world.executionsOf(id)).toEqual([first.json.execution_id]);
    const [row] = await world.service.database.db.query<{ input: string }>(
      'SELECT input FROM executions WHERE id = $1',
      [first.json.execution_id],
    );
    expect(row?.input).toContain('"attempt":1');
  });

  test('200 concurrent deliveries are one execution and 200 receipts for it', async () => {
    const { id, hash } = await world.createWebhook(BY_ID);
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => world.call(hash, event('evt_crowd'))),
    );
    const started = await world.executionsOf(id);
    expect(started).toHaveLength(1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(answers.map(({ json }) => json.execution_id))).toEqual(new Set(started));
    expect(answers.filter(({ json }) => json.message === 'The workflow was started.')).toHaveLength(1);
  });

  test('other ids, other workflows and numbers of any size are different events', async () => {
    const one = await world.createWebhook(BY_ID);
    const other = await world.createWebhook(BY_ID);
    const big = ['{"event":{"id":9007199254740993}}', '{"event":{"id":9007199254740992}}'];
    for (const body of [event('a'), event('b'), event(1), event('a\u0000'), ...big]) {
      expect((await world.call(one.hash, body)).json.message).toBe('The workflow was started.');
    }
    expect((await world.call(other.hash, event('a'))).json.message).toBe('The workflow was started.');
    expect(await world.executionsOf(one.id)).toHaveLength(6);
  });

  test('can come from a header', async () => {
    const { id, hash } = await world.createWebhook({
      deduplicate: { by: 'header', name: 'X-GitHub-Delivery' },
    });
    const delivery = { 'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958' };
    await world.call(hash, '{"a":1}', delivery);
    await world.call(hash, '{"a":2}', delivery);
    await world.call(hash, '{"a":1}', { 'x-github-delivery': 'another' });
    expect(await world.executionsOf(id)).toHaveLength(2);
  });

  test('starts again after its window, and old events are deleted', async () => {
    const { id, hash } = await world.createWebhook({
      deduplicate: { ...BY_ID.deduplicate, window_s: 3_600 },
    });
    const { db } = world.service.database;
    const age = (interval: string) =>
      db.query(
        'UPDATE webhook_deliveries SET expires_at = expires_at - $2::interval WHERE workflow_id = $1',
        [id, interval],
      );
    const first = await world.call(hash, event('evt'));
    await age('59 minutes');
    expect((await world.call(hash, event('evt'))).json.execution_id).toBe(first.json.execution_id);
    await age('2 minutes');
    const second = await world.call(hash, event('evt'));
    expect(second.json.execution_id).not.toBe(first.json.execution_id);
    expect((await world.call(hash, event('evt'))).json.execution_id).toBe(second.json.execution_id);
    await age('2 hours');
    await prune(db, world.service.deps.config.retention);
    expect(await db.query('SELECT FROM webhook_deliveries WHERE workflow_id = $1', [id])).toEqual([]);
    expect(await world.executionsOf(id)).toHaveLength(2);
  });
});

describe('a call without an id', () => {
  test('starts each time, even with equal bodies', async () => {
    const { id, hash } = await world.createWebhook(BY_ID);
    for (const body of ['{"a":1}', '{"a":1}', event(null), event(''), event({ a: 1 }), '[]', 'null']) {
      expect((await world.call(hash, body)).json.message).toBe('The workflow was started.');
    }
    expect(await world.executionsOf(id)).toHaveLength(7);
  });

  test('422 if the webhook requires one', async () => {
    const { id, hash } = await world.createWebhook({
      deduplicate: { ...BY_ID.deduplicate, missing: 'refuse' },
    });
    const { status, json } = await world.call(hash, '{"event":{}}');
    expect(status).toBe(422);
    expect(json.errors).toEqual([
      {
        pointer: '/event/id',
        field: 'event.id',
        code: 'required',
        message: expect.stringContaining('event.id'),
      },
    ]);
    const byHeader = { deduplicate: { by: 'header', name: 'X-Id', missing: 'refuse' } };
    const header = await world.createWebhook(byHeader);
    expect((await world.call(header.hash, '{}')).json.errors[0]?.message).toContain('the header X-Id');
    expect(await world.executionsOf(id)).toEqual([]);
  });
});
