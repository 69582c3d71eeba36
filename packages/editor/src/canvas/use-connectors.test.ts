import { expect, test } from 'vitest';
import { connectorsOf } from './use-connectors.ts';

const agent = (tool: string) => ({
  type: 'ai.agent',
  data: { config: { tools: [{ kind: 'node', type: tool }] } },
});

test.each([
  ['none', [{ type: 'http.request' }, { type: 'trigger.manual' }], null],
  ['a service', [{ type: 'connector.slack.send_message' }], ''],
  ['an agent without data', [{ type: 'ai.agent' }], ''],
  [
    'an operation and a trigger of its own',
    [{ type: 'trigger.own.desk.new' }, { type: 'own.shop.sell' }],
    'desk,shop',
  ],
  ['one connector twice', [{ type: 'own.desk.a' }, { type: 'own.desk.b' }], 'desk'],
  ['a tool of an agent', [agent('own.desk.create')], 'desk'],
  ['what only looks like one', [{ type: 'core.set', data: { config: { text: 'own.desk.a' } } }], null],
] as const)('a flow with %s needs these node types of connectors', (_, nodes, needed) => {
  expect(connectorsOf(nodes)).toBe(needed);
});
