import { findProblems, type JsonObject } from '@millrace/engine';
import { registry } from '@millrace/nodes';
import { describe, expect, it } from 'vitest';
import { configOf, flowOf, n8n, outcomeOf, read, type Sketch, START } from './testing.ts';

it('a list that is read again after its loop gets a loop of its own, not one that waits for itself', () => {
  const file = n8n(
    {
      Start: START,
      List: { type: 'splitOut', version: 1, parameters: { fieldToSplitOut: 'list' } },
      Call: {
        type: 'httpRequest',
        version: 4.2,
        parameters: { url: '=https://www.example.com/{{ $json.a }}' },
      },
      Both: { type: 'merge', version: 3, parameters: { mode: 'chooseBranch' } },
      Again: {
        type: 'httpRequest',
        version: 4.2,
        parameters: { url: '=https://www.example.com/{{ $json.a }}/b' },
      },
    },
    [
      ['Start', 'List'],
      ['List', 'Call'],
      ['Call', 'Both'],
      ['Both', 'Again'],
    ],
  );
  const to = (node: string, index: number) => ({ node, type: 'main', index });
  const connections = {
    ...(file.connections as JsonObject),
    List: { main: [[to('Call', 0), to('Both', 0)]] },
    Call: { main: [[to('Both', 1)]] },
  };
  const result = read({ ...file, connections });
  expect(configOf(result, 'For each: Again')).toEqual({ items: configOf(result, 'For each: Call')?.items });
  expect(findProblems(flowOf(result), registry)).toEqual([]);
});

const CALL = { type: 'httpRequest', version: 4.2, parameters: { url: 'https://jobs.example.com' } };
const IF = {
  type: 'if',
  version: 2.2,
  parameters: {
    conditions: {
      combinator: 'and',
      conditions: [
        { leftValue: '={{ $json.a }}', rightValue: 1, operator: { type: 'number', operation: 'equals' } },
      ],
    },
  },
};

/** Asks, and goes back from the second output of a condition; with more connections. */
function polling(more: { readonly [from: string]: readonly string[] } = {}) {
  const file = n8n(
    { Start: START, Ask: CALL, 'Done?': IF, Then: CALL, Wait: { type: 'wait', version: 1.1 } },
    [],
  );
  const to = (node: string) => ({ node, type: 'main', index: 0 });
  const all: { readonly [from: string]: readonly (readonly string[])[] } = {
    Start: [['Ask']],
    Ask: [['Done?']],
    'Done?': [['Then'], ['Wait']],
    Wait: [['Ask']],
  };
  const main = Object.entries(all).map(([from, [first = [], ...others]]) => [
    from,
    { main: [[...first, ...(more[from] ?? [])], ...others].map((names) => names.map(to)) },
  ]);
  return read({ ...file, connections: Object.fromEntries(main) });
}

it('what goes back to an earlier node becomes a loop that ends when nothing does', () => {
  const result = polling();
  expect(outcomeOf(result, 'Wait')).toMatchObject({ kind: 'approximated' });
  expect(configOf(result, 'Repeat: Ask')).toEqual({
    until: [{ left: '{{nodes.back_to_ask.output.again}}', operator: 'not_exists' }],
    combine: 'all',
    max_iterations: 1000,
    result: { result_1: '{{nodes.pass_on.output.item}}', back: '{{nodes.back_to_ask.output.item}}' },
  });
  expect(findProblems(flowOf(result), registry)).toEqual([]);
});

it.each([
  ['a node inside leads elsewhere in each round', { Ask: ['Then'] }],
  ['it is entered in the middle', { Start: ['Wait'] }],
  ['what leaves also goes back', { 'Done?': ['Wait'] }],
])('stays a placeholder where %s', (_why, more) => {
  expect(outcomeOf(polling(more), 'Wait')).toMatchObject({ kind: 'dropped' });
});

describe('what the original keeps with a loop', () => {
  const reading = (value: string, at: 'Inside' | 'After') => {
    const set: Sketch = {
      type: 'set',
      version: 3.4,
      parameters: { assignments: { assignments: [{ name: 'x', type: 'string', value }] } },
    };
    const original = n8n(
      { Start: START, Loop: { type: 'splitInBatches', version: 3 }, Inside: set, After: set },
      [],
    );
    const to = (...names: readonly string[]) => names.map((node) => ({ node, type: 'main', index: 0 }));
    const connections = {
      Start: { main: [to('Loop')] },
      Loop: { main: [to('After'), to('Inside')] },
      Inside: { main: [to('Loop')] },
    };
    return configOf(read({ ...original, connections }), at)?.values;
  };

  it.each([
    ["={{ $('Loop').context.noItemsLeft }}", 'Inside', '(index + 1 >= 1)'],
    ["={{ $('Loop').context['currentRunIndex'] }}", 'Inside', 'index'],
    ['={{ $node["Loop"].context.noItemsLeft }}', 'After', 'true'],
  ] as const)('%s %s', (code, at, expected) => {
    expect(reading(code, at)).toEqual({ x: `{{${expected}}}` });
  });
});
