import { type JsonObject, type KafkaOrder, success } from '@millrace/engine';
import { type RunOptions, runNode } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { kafka } from './kafka.ts';

const credential = {
  type: 'kafka',
  brokers: 'kafka.example.com:9093',
  mechanism: 'plain',
  username: 'ada',
  password: 'canary',
  tls: 'verify',
  ...{ token_url: null, scope: null, extensions: null },
  ...{ certificate: null, private_key: null, passphrase: null, authority: null },
} as const;

async function send(config: JsonObject, options: Omit<RunOptions, 'config'> = {}) {
  const orders: KafkaOrder[] = [];
  const { result } = await runNode(kafka, {
    credential,
    idempotencyKey: '17-abc',
    services: {
      kafka: {
        async send(given, order) {
          expect(given).toBe(credential);
          orders.push(order);
          return order.messages.map((_each, offset) => ({ partition: 2, offset }));
        },
      },
    },
    ...options,
    config: { credential_id: 4, topic: 'orders', messages: 'a', ...config },
  });
  return { result, orders, order: orders[0] };
}

describe('data.kafka', () => {
  it('sends a text as it is, anything else as JSON, with a header that tells repeats', async () => {
    const { result, order } = await send({
      messages: { id: 17 },
      key: 'ada',
      headers: { kind: 'order', n: 1 },
    });
    expect(result).toEqual(success({ sent: 1, messages: [{ partition: 2, offset: 0 }] }));
    const headers = { kind: 'order', n: '1', 'idempotency-key': '17-abc' };
    expect(order).toEqual({
      topic: 'orders',
      messages: [{ key: 'ada', value: '{"id":17}', headers, partition: null }],
      timeoutMs: 10_000,
    });
  });

  it('sends a list, each with a key and a header of its own, and null without a value', async () => {
    const { order } = await send({ messages: ['a', null, 3], key: ['k', '', 7], partition: 1 });
    expect(order?.messages).toEqual([
      { key: 'k', value: 'a', headers: { 'idempotency-key': '17-abc-1' }, partition: 1 },
      { key: null, value: null, headers: { 'idempotency-key': '17-abc-2' }, partition: 1 },
      { key: '7', value: '3', headers: { 'idempotency-key': '17-abc-3' }, partition: 1 },
    ]);
  });

  it.each<[string, JsonObject]>([
    ['no topic', { topic: ' ' }],
    ['no messages', { messages: [] }],
    ['too many', { messages: Array.from({ length: 101 }, () => 'a') }],
    ['too much', { messages: 'x'.repeat(900_000) }],
    ['fewer keys than messages', { messages: ['a', 'b'], key: ['k'] }],
    ['no credential', { credential_id: 0 }],
  ])('refuses %s before anything is sent', async (_what, config) => {
    const { result, orders } = await send(config);
    expect([result, orders]).toMatchObject([{ kind: 'failure', code: 'invalid_config' }, []]);
  });

  it('in test mode shows the messages, and sends nothing', async () => {
    const { result, orders } = await send({}, { isTestMode: true });
    const message = { key: null, value: 'a', headers: {}, partition: null };
    expect(result).toEqual(success({ dry_run: true, request: { topic: 'orders', messages: [message] } }));
    expect(orders).toEqual([]);
  });
});
