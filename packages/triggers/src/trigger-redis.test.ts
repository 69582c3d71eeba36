import { type JsonObject, success } from '@millrace/engine';
import { runNode } from '@millrace/node-kit/testing';
import { expect, test } from 'vitest';
import { faultsOf, sourceOf } from './listening/testing.ts';
import { triggerRedis } from './trigger-redis.ts';

const STREAM = { credential_id: 3, stream: 'orders' };

test('reads new entries for its own group, unless settings say otherwise', () => {
  expect(sourceOf(triggerRedis, STREAM)).toEqual({
    kind: 'redis',
    credentialId: 3,
    stream: 'orders',
    group: 'millrace',
    existing: 'skip',
    claimAfterMs: 300_000,
  });
});

test('reads every setting; keys of Redis may have spaces around them', () => {
  const config = { stream: ' orders', group: 'stock ', existing: 'start', claim_after_s: 30 };
  expect(sourceOf(triggerRedis, { ...STREAM, ...config })).toEqual({
    kind: 'redis',
    credentialId: 3,
    stream: ' orders',
    group: 'stock ',
    existing: 'start',
    claimAfterMs: 30_000,
  });
});

test('begins afresh only with another server, stream or group', () => {
  expect(triggerRedis.listening?.place).toEqual(['credential_id', 'stream', 'group']);
});

test.each<[string, JsonObject, readonly string[]]>([
  ['a stream', {}, []],
  ['the longest names', { stream: 'x'.repeat(512), group: 'x'.repeat(255), claim_after_s: 86_400 }, []],
  ['no server', { credential_id: 0 }, ['/credential_id', 'selects no credential']],
  ['no stream', { stream: ' ' }, ['/stream', 'is empty']],
  ['a long stream', { stream: 'x'.repeat(513) }, ['/stream', 'at most 512 characters']],
  ['no group', { group: '' }, ['/group', 'at least 1 character']],
  ['a long group', { group: 'x'.repeat(256) }, ['/group', 'at most 255 characters']],
  ['a hasty takeover', { claim_after_s: 29 }, ['/claim_after_s', 'must be 30 or more']],
  ['a late takeover', { claim_after_s: 86_401 }, ['/claim_after_s', 'must be 86400 or less']],
  ['another beginning', { existing: 'all' }, ['/existing', 'must be one of']],
])('finds in settings with %s', (_what, config, [pointer, text = '']) => {
  const expected = pointer === undefined ? [] : [[pointer, expect.stringContaining(text)]];
  expect(faultsOf(triggerRedis, { ...STREAM, ...config })).toEqual(expected);
});

test('refuses to listen without a stream', () => {
  expect(() => sourceOf(triggerRedis, { credential_id: 3 })).toThrow('config.stream is required');
});

test.each([false, true])('hands on the entry, in test mode: %s', async (isTestMode) => {
  const trigger = { id: '1-0', stream: 'orders', fields: { id: '4711' }, is_too_large: false };
  const { result, requests } = await runNode(triggerRedis, { config: STREAM, trigger, isTestMode });
  expect([result, requests]).toEqual([success({ data: trigger }), []]);
});
