import { expect, test } from 'vitest';
import { configOf } from './config-of.ts';
import { nodesReadBy, renderInput } from './rendered-input.ts';

const CONFIG = {
  url: 'https://example.com/{{trigger.data.order}}?of={{execution.id}}',
  body: { rows: '{{nodes.fetch.output.rows}}', note: '{{vars.note}} {{nodes.other.output.x}}' },
  answer: '{{args.callback_url}}',
  broken: '{{nodes.',
};
const FLOW = {
  nodes: [{ id: 'send', type: 'http.request', data: { config: CONFIG } }],
  edges: [],
  settings: { vars: { note: 'hello' } },
};

test('the settings are shown with templates filled in', () => {
  expect(nodesReadBy(CONFIG)).toEqual(['fetch', 'other']);
  const source = { executionId: 7, triggerData: { order: 17 }, outputs: { fetch: { rows: [1, 2] } } };
  expect(renderInput(CONFIG, FLOW, source)).toEqual({
    url: 'https://example.com/17?of=7',
    body: { rows: [1, 2], note: 'hello ' },
    // Known only during the run, or never.
    answer: '{{args.callback_url}}',
    broken: '{{nodes.',
  });
});

test("a node without settings, or that doesn't exist, has none", () => {
  expect(configOf(FLOW, 'send')).toEqual(CONFIG);
  expect(configOf(FLOW, 'nobody')).toBeNull();
  expect(configOf(undefined, 'send')).toBeNull();
});
