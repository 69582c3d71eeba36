import { type JsonObject, success } from '@millrace/engine';
import { runNode } from '@millrace/node-kit/testing';
import { expect, test } from 'vitest';
import { faultsOf, sourceOf } from './listening/testing.ts';
import { triggerSqs } from './trigger-sqs.ts';

const url = 'https://sqs.eu-central-1.amazonaws.com/123456789012/orders';
const QUEUE = { credential_id: 3, queue_url: url };

test('receives from its queue, whose address may have been pasted with spaces', () => {
  const source = { kind: 'sqs', credentialId: 3, queueUrl: url };
  expect(sourceOf(triggerSqs, QUEUE)).toEqual(source);
  expect(sourceOf(triggerSqs, { ...QUEUE, queue_url: ` ${url}\n` })).toEqual(source);
});

test('begins afresh with other keys or another queue', () => {
  expect(triggerSqs.listening?.place).toEqual(['credential_id', 'queue_url']);
});

test.each<[string, JsonObject, readonly string[]]>([
  ['a queue', {}, []],
  ['the longest address', { queue_url: url.padEnd(2_048, 'x') }, []],
  ['no keys', { credential_id: 0 }, ['/credential_id', 'selects no credential']],
  ['no queue', { queue_url: ' ' }, ['/queue_url', 'is empty']],
  ['a long address', { queue_url: url.padEnd(2_049, 'x') }, ['/queue_url', 'at most 2048 characters']],
  ['what others have', { topics: ['orders'] }, ['/topics', 'is not known here']],
])('finds in settings with %s', (_what, config, [pointer, text = '']) => {
  const expected = pointer === undefined ? [] : [[pointer, expect.stringContaining(text)]];
  expect(faultsOf(triggerSqs, { ...QUEUE, ...config })).toEqual(expected);
});

test('refuses to listen without a queue', () => {
  expect(() => sourceOf(triggerSqs, { credential_id: 3 })).toThrow('config.queue_url is required');
});

test.each([false, true])('hands on the message, in test mode: %s', async (isTestMode) => {
  const trigger = { id: 'a', text: '{"order":4711}', json: { order: 4711 }, attributes: { kind: 'order' } };
  const { result, requests } = await runNode(triggerSqs, { config: QUEUE, trigger, isTestMode });
  expect([result, requests]).toEqual([success({ data: trigger }), []]);
});
