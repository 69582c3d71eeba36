import { type DataService, type JsonObject, ServiceError } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { runNode, TEST_NOW_MS } from '@millrace/node-kit/testing';
import { memoryData } from '@millrace/node-kit/testing-data';
import { describe, expect, it } from 'vitest';
import { dataStore } from './data-store.ts';

/** Runs the node repeatedly on one table. */
function table(nowMs = { value: TEST_NOW_MS }) {
  const data = memoryData(() => nowMs.value);
  return async (config: JsonObject, isTestMode = false) =>
    (await runNode(dataStore, { config, isTestMode, services: { data } })).result;
}

/** Fails the test on any access. */
const untouchable = new Proxy({} as DataService, {
  get: (_target, name) => () => Promise.reject(new Error(`${String(name)} was called`)),
});

describe('data.store', () => {
  it('sets, reads and deletes', async () => {
    const run = table();
    const set = { operation: 'set', key: 'a', value: { list: [1, null] }, expires_in_s: 60 };
    const entry = { key: 'a', value: { list: [1, null] }, expires_at: '2026-01-01T00:01:00.000Z' };
    expect(await run(set)).toMatchObject({ kind: 'success', output: { ...entry, written: true } });
    expect(await run({ operation: 'get', key: 'a' })).toMatchObject({ output: { ...entry, found: true } });
    expect(await run({ operation: 'delete', key: 'a' })).toMatchObject({
      output: { key: 'a', deleted: true },
    });
    expect(await run({ operation: 'delete', key: 'a' })).toMatchObject({ output: { deleted: false } });
    expect(await run({ operation: 'get', key: 'a' })).toMatchObject({
      output: { key: 'a', value: null, expires_at: null, found: false },
    });
  });

  it('distinguishes a null value from an absent one', async () => {
    const run = table();
    await run({ operation: 'set', key: 'a', value: null });
    expect(await run({ operation: 'get', key: 'a' })).toMatchObject({ output: { value: null, found: true } });
  });

  it('writes only if absent, and reports it', async () => {
    const run = table();
    const config = { operation: 'set', key: 'a', only_if_absent: true };
    expect(await run({ ...config, value: 1 })).toMatchObject({ output: { value: 1, written: true } });
    expect(await run({ ...config, value: 2 })).toMatchObject({ output: { value: 1, written: false } });
  });

  it('increments by 1 by default, and keeps the first expiry', async () => {
    const now = { value: TEST_NOW_MS };
    const run = table(now);
    const config = { operation: 'increment', key: 'n', expires_in_s: 10 };
    await run(config);
    now.value += 5000;
    expect(await run({ ...config, by: -3 })).toMatchObject({
      output: { key: 'n', value: -2, expires_at: '2026-01-01T00:00:10.000Z' },
    });
  });

  it('lists by prefix and limit', async () => {
    const run = table();
    for (const key of ['b/2', 'a', 'b/1', 'b/3']) await run({ operation: 'set', key, value: key });
    expect(await run({ operation: 'list', prefix: 'b/', limit: 2 })).toMatchObject({
      output: { count: 2, entries: [{ key: 'b/1' }, { key: 'b/2' }] },
    });
    expect(await run({ operation: 'list' })).toMatchObject({ output: { count: 4 } });
  });

  it.each([
    [{ operation: 'get' }],
    [{ operation: 'set', key: '' }],
    [{ operation: 'increment', key: 'a', by: '1' }],
    [{ operation: 'drop', key: 'a' }],
    [{ operation: 'list', limit: 1001 }],
    [{ operation: 'set', key: 'a', expires_in_s: -1 }],
  ])('refuses %j', async (config) => {
    const { result } = await runNode(dataStore, { config, services: { data: untouchable } });
    expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config' });
  });

  it("fails with the service's reason, and throws on a defect", async () => {
    const failing = (error: Error) => ({
      ...memoryData(() => TEST_NOW_MS),
      get: () => Promise.reject(error),
    });
    const config = { operation: 'get', key: 'a' };
    const full = failing(new ServiceError('data_limit_reached', verbatim('Full.')));
    expect((await runNode(dataStore, { config, services: { data: full } })).result).toMatchObject({
      kind: 'failure',
      code: 'data_limit_reached',
      message: verbatim('Full.'),
    });
    const broken = failing(new Error('a bug'));
    await expect(runNode(dataStore, { config, services: { data: broken } })).rejects.toThrow('a bug');
  });
});

describe('data.store: test mode', () => {
  it.each([
    [
      { operation: 'set', key: 'a', value: 1, expires_in_s: 5 },
      { operation: 'set', key: 'a', value: 1, only_if_absent: false, expires_in_s: 5 },
    ],
    [
      { operation: 'increment', key: 'a', by: 2 },
      { operation: 'increment', key: 'a', by: 2, expires_in_s: 0 },
    ],
    [
      { operation: 'delete', key: 'a' },
      { operation: 'delete', key: 'a' },
    ],
  ])('writes nothing and shows %j', async (config, request) => {
    const { result } = await runNode(dataStore, {
      config,
      isTestMode: true,
      services: { data: untouchable },
    });
    expect(result).toMatchObject({ kind: 'success', output: { dry_run: true, request } });
  });

  it('reads', async () => {
    const run = table();
    await run({ operation: 'set', key: 'a', value: 1 });
    expect(await run({ operation: 'get', key: 'a' }, true)).toMatchObject({
      output: { value: 1, found: true },
    });
    expect(await run({ operation: 'list' }, true)).toMatchObject({ output: { count: 1 } });
  });
});
