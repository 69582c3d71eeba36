import { type JsonObject, success } from '@millrace/engine';
import { runNode } from '@millrace/node-kit/testing';
import { expect, test } from 'vitest';
import { faultsOf, sourceOf } from './listening/testing.ts';
import { triggerMqtt } from './trigger-mqtt.ts';

const TOPICS = { credential_id: 3, topics: ['mill/+/temperature', 'shop/#'] };

test('subscribes to its topics, in a session that has a name of its own or none', () => {
  const source = { kind: 'mqtt', credentialId: 3, topics: ['mill/+/temperature', 'shop/#'], clientId: '' };
  expect(sourceOf(triggerMqtt, TOPICS)).toEqual(source);
  expect(sourceOf(triggerMqtt, { ...TOPICS, client_id: ' mill-1 ' })).toEqual({
    ...source,
    clientId: 'mill-1',
  });
});

test('keeps its session when topics change', () => {
  expect(triggerMqtt.listening?.place).toEqual(['credential_id', 'client_id']);
});

test.each<[string, JsonObject, readonly string[]]>([
  ['topics', {}, []],
  ['as many topics as can be', { topics: Array.from({ length: 50 }, (_, at) => `mill/${at}`) }, []],
  ['no broker', { credential_id: 0 }, ['/credential_id', 'selects no credential']],
  ['no topics', { topics: [] }, ['/topics', 'is empty']],
  ['too many topics', { topics: Array.from({ length: 51 }, () => 'a') }, ['/topics', 'at most 50 items']],
  ['an empty topic', { topics: ['a', ''] }, ['/topics/1', 'at least 1 character']],
  ['a long topic', { topics: ['x'.repeat(1_001)] }, ['/topics/0', 'at most 1000 characters']],
  ['a long client ID', { client_id: 'x'.repeat(256) }, ['/client_id', 'at most 255 characters']],
])('finds in settings with %s', (_what, config, [pointer, text = '']) => {
  const expected = pointer === undefined ? [] : [[pointer, expect.stringContaining(text)]];
  expect(faultsOf(triggerMqtt, { ...TOPICS, ...config })).toEqual(expected);
});

test('refuses to listen without a list of topics', () => {
  expect(() => sourceOf(triggerMqtt, { credential_id: 3 })).toThrow('config.topics is required');
  expect(() => sourceOf(triggerMqtt, { ...TOPICS, topics: 'mill/#' })).toThrow('config.topics');
});

test.each([false, true])('hands on the message, in test mode: %s', async (isTestMode) => {
  const trigger = { topic: 'mill/3/temperature', text: '61.5', json: 61.5, qos: 1, is_retained: true };
  const { result, requests } = await runNode(triggerMqtt, { config: TOPICS, trigger, isTestMode });
  expect([result, requests]).toEqual([success({ data: trigger }), []]);
});
