import type { JsonObject, NodeRecord, Plan } from '@millrace/engine';
import { describe, expect, test } from 'vitest';
import { answerOf, liveNodesOf } from './answer.ts';

interface Made {
  readonly id: string;
  readonly type: string;
  readonly config?: JsonObject;
  /** Whether nothing follows it. */
  readonly isLast?: boolean;
}

/** As much of a plan as matters here. */
function planOf(nodes: readonly Made[], answer = ''): Plan {
  const made = nodes.map(({ id, type, config = {}, isLast = false }) => ({
    ...{ id, type, writtenConfig: config, kind: 'effect', isLast },
  }));
  const trigger = {
    id: 'chat',
    type: 'trigger.chat',
    kind: 'trigger',
    writtenConfig: { answer },
    deferred: [],
  };
  return {
    trigger,
    triggers: [trigger],
    root: { nodes: made, sinks: made.filter(({ isLast }) => isLast) },
  } as unknown as Plan;
}

describe('what a visitor may read while it is written', () => {
  const nodes = [
    { id: 'classify', type: 'ai.generate' },
    { id: 'fields', type: 'ai.generate', config: { output: 'json' }, isLast: true },
    { id: 'log', type: 'http.request', isLast: true },
    { id: 'my agent', type: 'ai.agent', isLast: true },
  ];

  test.each<[string, readonly string[]]>([
    ['', ['my agent']],
    ['{{nodes.classify.output.text}}', ['classify']],
    [' {{ nodes["my agent"].output.text }} ', ['my agent']],
    ['{{nodes.fields.output.text}}', []],
    ['{{nodes.classify.output.text | upcase}}', []],
    ['Hello, {{nodes.classify.output.text}}', []],
    ['{{nodes.unknown.output.text}}', []],
  ])('the answer %j: %j', (answer, live) => {
    expect(liveNodesOf(planOf(nodes, answer), answer)).toEqual(live);
  });
});

describe('the answer without a setting', () => {
  const record = (nodeId: string, output: JsonObject, more: object = {}) =>
    ({ nodeId, status: 'success', output, handles: ['out'], ...more }) as unknown as NodeRecord;
  const plan = planOf([
    { id: 'a', type: 'core.set' },
    { id: 'b', type: 'core.set', isLast: true },
    { id: 'c', type: 'core.set', isLast: true },
  ]);

  test.each<[string, readonly NodeRecord[], string | null]>([
    ['of the last final node', [record('b', { text: 'B' }), record('c', { text: 'C' })], 'C'],
    ['of the one that ran', [record('b', { text: 'B' })], 'B'],
    ['of one that has a text', [record('b', { text: 'B' }), record('c', { status: 200 })], 'B'],
    ['not of a node that something follows', [record('a', { text: 'A' })], null],
    ['not blank', [record('b', { text: ' ' })], null],
    ['of what stopped it', [record('a', { text: 'A' }, { isStop: true }), record('b', { text: 'B' })], 'A'],
    ['not of an iteration', [record('b', { text: 'B' }, { iteration: [0] })], null],
  ])('is the text %s', (_name, records, answer) => {
    expect(answerOf(plan, { executionId: 1, triggerData: null, records, maxBytes: 1_000 })).toBe(answer);
  });
});
