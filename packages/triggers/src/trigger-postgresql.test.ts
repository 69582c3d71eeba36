import { type JsonObject, success } from '@millrace/engine';
import { runNode } from '@millrace/node-kit/testing';
import { expect, test } from 'vitest';
import { faultsOf, sourceOf } from './listening/testing.ts';
import { triggerPostgresql } from './trigger-postgresql.ts';

const CHANNELS = { credential_id: 3, channels: ['orders', 'A "quoted" one '] };

test('listens on its channels, whose names stay as they are', () => {
  expect(sourceOf(triggerPostgresql, CHANNELS)).toEqual({
    kind: 'postgresql',
    credentialId: 3,
    channels: ['orders', 'A "quoted" one '],
  });
});

test('begins afresh only with another server', () => {
  expect(triggerPostgresql.listening?.place).toEqual(['credential_id']);
});

test.each<[string, JsonObject, readonly string[]]>([
  ['channels', {}, []],
  ['as many channels as can be', { channels: Array.from({ length: 50 }, (_, at) => `orders_${at}`) }, []],
  ['no server', { credential_id: 0 }, ['/credential_id', 'selects no credential']],
  ['no channels', { channels: [] }, ['/channels', 'is empty']],
  [
    'too many channels',
    { channels: Array.from({ length: 51 }, () => 'a') },
    ['/channels', 'at most 50 items'],
  ],
  ['an empty channel', { channels: ['', 'a'] }, ['/channels/0', 'at least 1 character']],
  ['a long channel', { channels: ['x'.repeat(1_001)] }, ['/channels/0', 'at most 1000 characters']],
  ['what others have', { stream: 'orders' }, ['/stream', 'is not known here']],
])('finds in settings with %s', (_what, config, [pointer, text = '']) => {
  const expected = pointer === undefined ? [] : [[pointer, expect.stringContaining(text)]];
  expect(faultsOf(triggerPostgresql, { ...CHANNELS, ...config })).toEqual(expected);
});

test('refuses to listen without a list of channels', () => {
  expect(() => sourceOf(triggerPostgresql, { credential_id: 3 })).toThrow('config.channels is required');
  expect(() => sourceOf(triggerPostgresql, { ...CHANNELS, channels: [7] })).toThrow('config.channels.0');
});

test.each([false, true])('hands on the notification, in test mode: %s', async (isTestMode) => {
  const trigger = { channel: 'orders', text: '{"id":4711}', json: { id: 4711 }, process_id: 812 };
  const { result, requests } = await runNode(triggerPostgresql, { config: CHANNELS, trigger, isTestMode });
  expect([result, requests]).toEqual([success({ data: trigger }), []]);
});
