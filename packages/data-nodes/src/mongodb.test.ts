import { type JsonObject, type MongoOrder, success } from '@millrace/engine';
import { saying } from '@millrace/messages/testing';
import { runNode } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { mongodb } from './mongodb.ts';

const credential = mongodb.examples[0]?.credential;

async function run(config: object, answer: JsonObject = {}, { trigger = {}, isTestMode = false } = {}) {
  const orders: MongoOrder[] = [];
  const service = {
    run: async (_credential: unknown, order: MongoOrder) => {
      orders.push(order);
      return answer;
    },
  };
  const outcome = await runNode(mongodb, {
    config: { credential_id: 2, operation: 'find', collection: 'c', ...config } as never,
    ...(credential === undefined ? {} : { credential }),
    trigger: trigger as never,
    isTestMode,
    services: { mongodb: service },
  });
  return { result: outcome.result, order: orders[0] };
}

describe('data.mongodb', () => {
  it('fills in values', async () => {
    const filter = {
      _id: { $oid: '{{trigger.data.id}}' },
      age: { $gte: '{{trigger.data.age}}' },
      tags: '{{trigger.data.tags}}',
    };
    const trigger = { id: '65a1b2c3d4e5f60718293a4b', age: 18, tags: ['a'] };
    const { order, result } = await run(
      { filter },
      { documents: [{ a: 1 }], is_truncated: true },
      { trigger },
    );
    expect(order).toMatchObject({
      collection: 'c',
      readOnly: true,
      command: {
        kind: 'find',
        filter: { _id: { $oid: '65a1b2c3d4e5f60718293a4b' }, age: { $gte: 18 }, tags: ['a'] },
        limit: 100,
      },
    });
    expect(result).toEqual(success({ documents: [{ a: 1 }], count: 1, is_truncated: true }));
  });

  it.each([{ $ne: null }, [{ $gt: '' }], { a: { $where: '1' } }])(
    'never takes an operator from data: %o',
    async (email) => {
      for (const config of [
        { filter: { email: '{{trigger.data.email}}' } },
        { operation: 'update', update: { $set: { email: '{{trigger.data.email}}' } } },
        { operation: 'aggregate', pipeline: [{ $match: { email: '{{trigger.data.email}}' } }] },
      ]) {
        const { result, order } = await run(config, {}, { trigger: { email } });
        expect(result).toMatchObject({
          kind: 'failure',
          code: 'invalid_config',
          message: saying('operator'),
        });
        expect(order).toBeUndefined();
      }
    },
  );

  it.each([
    [{ operation: 'find', filter: { $where: 'sleep(1)' } }, '$where'],
    [{ operation: 'aggregate', pipeline: [{ $project: { a: { $function: {} } } }] }, '$function'],
    [{ operation: 'aggregate', pipeline: [{ $out: 'x' }] }, '$out'],
    [{ operation: 'aggregate', pipeline: [{ $facet: { a: [{ $merge: 'x' }] } }] }, '$merge'],
    [{ operation: 'aggregate', pipeline: 7 }, 'pipeline'],
    [{ operation: 'insert' }, 'documents'],
    [{ operation: 'update' }, 'update'],
    [{ operation: 'delete' }, 'filter'],
    [{ collection: '' }, 'collection'],
  ])('refuses %o', async (config, said) => {
    const { result, order } = await run(config);
    expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config', message: saying(said) });
    expect(order).toBeUndefined();
  });

  it('writes by a pipeline if that is allowed', async () => {
    const { order } = await run(
      { operation: 'aggregate', pipeline: [{ $out: 'x' }], read_only: false },
      { documents: [] },
    );
    expect(order).toMatchObject({
      readOnly: false,
      command: { kind: 'aggregate', pipeline: [{ $out: 'x' }] },
    });
  });

  it('replaces a whole document only once', async () => {
    const { order } = await run({ operation: 'update', filter: { a: 1 }, update: { a: 2 }, many: true });
    expect(order?.command).toMatchObject({ kind: 'update', isMany: false });
  });

  it('writes nothing in test mode, but reads', async () => {
    const write = await run({ operation: 'insert', documents: [{ a: 1 }] }, {}, { isTestMode: true });
    expect(write.result).toEqual(
      success({ dry_run: true, request: { collection: 'c', kind: 'insert', documents: [{ a: 1 }] } }),
    );
    expect(write.order).toBeUndefined();
    expect((await run({ operation: 'count' }, { count: 1 }, { isTestMode: true })).result).toEqual(
      success({ count: 1 }),
    );
  });
});
