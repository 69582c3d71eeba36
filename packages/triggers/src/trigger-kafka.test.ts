import { type JsonObject, success } from '@millrace/engine';
import { runNode } from '@millrace/node-kit/testing';
import { expect, test } from 'vitest';
import { faultsOf, sourceOf } from './listening/testing.ts';
import { triggerKafka } from './trigger-kafka.ts';

const TOPICS = { credential_id: 3, topics: ['orders', 'returns'] };

test('reads its topics in a group that has a name, or one of its own', () => {
  const source = {
    kind: 'kafka',
    credentialId: 3,
    topics: ['orders', 'returns'],
    group: '',
    existing: 'skip',
  };
  expect(sourceOf(triggerKafka, TOPICS)).toEqual(source);
  const named = { ...TOPICS, topics: [' orders '], group: ' shop ', existing: 'start' };
  expect(sourceOf(triggerKafka, named)).toEqual({
    ...source,
    topics: ['orders'],
    group: 'shop',
    existing: 'start',
  });
});

test('begins afresh with another cluster or group, and goes on when topics change', () => {
  expect(triggerKafka.listening?.place).toEqual(['credential_id', 'group']);
});

test.each<[string, JsonObject, readonly string[]]>([
  ['topics', {}, []],
  ['as many topics as can be', { topics: Array.from({ length: 50 }, (_, at) => `mill-${at}`) }, []],
  ['no cluster', { credential_id: 0 }, ['/credential_id', 'selects no credential']],
  ['no topics', { topics: [] }, ['/topics', 'is empty']],
  ['too many topics', { topics: Array.from({ length: 51 }, () => 'a') }, ['/topics', 'at most 50 items']],
  ['patterns beside names', { topics: ['orders', '^mill-[0-9]+$', ' ^returns-'] }, []],
  ['a name that no topic has', { topics: ['orders', 'orders-*'] }, ['/topics/1', 'begins with ^']],
  ['no regular expression', { topics: ['^orders-('] }, ['/topics/0', 'is not a regular expression']],
  ['a pattern that looks ahead', { topics: ['^(?!a).*'] }, ['/topics/0', 'not supported']],
  ['a pattern of much work', { topics: ['^(?:abcdefghijk){200}'] }, ['/topics/0', 'is too large']],
  ['an empty topic', { topics: ['a', ''] }, ['/topics/1', 'at least 1 character']],
  ['a long group', { group: 'x'.repeat(250) }, ['/group', 'at most 249 characters']],
  ['another beginning', { existing: 'end' }, ['/existing', 'must be one of']],
])('finds in settings with %s', (_what, config, [pointer, text = '']) => {
  const expected = pointer === undefined ? [] : [[pointer, expect.stringContaining(text)]];
  expect(faultsOf(triggerKafka, { ...TOPICS, ...config })).toEqual(expected);
});

test('refuses to listen without a list of topics', () => {
  expect(() => sourceOf(triggerKafka, { credential_id: 3 })).toThrow('config.topics is required');
});

test.each([false, true])('hands on the message, in test mode: %s', async (isTestMode) => {
  const trigger = { topic: 'orders', partition: 0, offset: 7, key: null, text: '61.5', json: 61.5 };
  const { result, requests } = await runNode(triggerKafka, { config: TOPICS, trigger, isTestMode });
  expect([result, requests]).toEqual([success({ data: trigger }), []]);
});
