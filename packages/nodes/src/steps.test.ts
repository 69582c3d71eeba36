import {
  isWork,
  type JsonObject,
  type JsonValue,
  type NodeContext,
  type NodeDefinition,
} from '@millrace/engine';
import { describe, expect, it } from 'vitest';
import { coreData } from './nodes/core-data.ts';
import { coreFilter } from './nodes/core-filter.ts';
import { coreIf } from './nodes/core-if.ts';
import { coreMerge } from './nodes/core-merge.ts';
import { coreSwitch } from './nodes/core-switch.ts';

interface StepCount {
  readonly total: number;
  /** The most steps without yielding. */
  readonly longest: number;
}

/** Runs a node to its end and counts its steps. */
function countSteps(
  definition: NodeDefinition,
  config: JsonObject,
  inputs: NodeContext['inputs'] = {},
): StepCount {
  const context = {
    config,
    inputs,
    inputOrder: Object.keys(inputs),
    timezone: null,
  } as unknown as NodeContext;
  const work = definition.run(context);
  if (!isWork(work)) throw new Error(`${definition.type} works at a stretch`);
  let total = 0;
  let longest = 0;
  for (;;) {
    const { done, value } = work.next();
    if (done === true) {
      expect(value).toMatchObject({ kind: 'success' });
      return { total, longest };
    }
    total += value;
    longest = Math.max(longest, value);
  }
}

const MANY = 40_000;
/** A piece of work and the item that completes it. */
const PIECE = 3_000;

const range = (count: number, make: (index: number) => JsonValue): JsonValue[] =>
  Array.from({ length: count }, (_, index) => make(index));
const row = (index: number): JsonObject => ({
  ...{ id: index, key: `k${(index * 7919) % MANY}`, group: index % 100, price: `${index % 977}.5` },
  ...{ at: '2026-03-08T23:30:00Z', tags: ['a', 'b'], words: 'a, b', note: 'x'.repeat(100) },
});
const rows = range(MANY, row);

const STEPS: readonly JsonObject[] = [
  { operation: 'pick', fields: ['id', 'key', 'no.such'] },
  { operation: 'omit', fields: ['id', 'key', 'no.such'] },
  { operation: 'rename', fields: [{ from: 'id', to: 'a.id' }] },
  {
    operation: 'sort',
    by: [
      { field: 'price', as: 'number' },
      { field: 'key', direction: 'desc' },
    ],
  },
  { operation: 'unique' },
  { operation: 'unique', by: ['key'], keep: 'last' },
  { operation: 'group', by: ['group'] },
  { operation: 'group', by: ['key'] },
  ...['count', 'sum', 'average', 'min', 'max', 'first', 'last', 'list'].map((kind) => ({
    ...{ operation: 'aggregate', values: [{ function: kind, field: 'price' }] },
  })),
  { operation: 'join', with: rows, on: [{ left: 'key', right: 'key' }], type: 'full', as: 'other' },
  { operation: 'chunk', size: 1 },
  { operation: 'chunk', size: 10_000 },
  { operation: 'split', field: 'words' },
  { operation: 'flatten', field: 'tags' },
  { operation: 'flatten' },
  { operation: 'format_date', field: 'at' },
  { operation: 'format_number', field: 'price' },
];

describe('40,000 items', () => {
  it.each(STEPS)('core.data $operation: in pieces, and few steps for each', (step) => {
    const { total, longest } = countSteps(coreData, { data: rows, steps: [step] });
    expect(longest).toBeLessThan(PIECE);
    expect(total).toBeLessThan(MANY * 50);
  });

  it.each(['in', 'not_in', 'contains', 'equals', 'less_than', 'starts_with', 'is_empty'])(
    'core.filter %s: with 40,000 values in pieces, and few steps for each',
    (operator) => {
      const right = range(MANY, (index) => `v${index}`);
      const conditions = [
        { operator, right },
        { field: 'key', operator, right },
      ];
      const { total, longest } = countSteps(coreFilter, { items: rows, conditions, combine: 'any' });
      expect(longest).toBeLessThan(PIECE);
      expect(total).toBeLessThan(MANY * 50);
    },
  );

  it('core.switch: 10,000 conditions look into one list', () => {
    const right = range(MANY, (index) => ({ index }));
    const conditions = Array(100).fill({ left: { index: -1 }, operator: 'in', right });
    const cases = range(100, (index) => ({ name: `c${index}`, conditions, combine: 'any' }));
    const { total, longest } = countSteps(coreSwitch, { cases, mode: 'all_matches' });
    expect(longest).toBeLessThan(PIECE);
    expect(total).toBeLessThan(MANY * 10);
  });

  it('core.if: comparing two long lists', () => {
    const [left, right] = [range(MANY, row), range(MANY, row)];
    const { total, longest } = countSteps(coreIf, { conditions: [{ left, operator: 'equals', right }] });
    expect(longest).toBeLessThan(PIECE);
    expect(total).toBeLessThan(MANY * 30);
  });

  it('core.merge: combining 50 outputs of 40,000 fields', () => {
    const output = Object.fromEntries(Array.from({ length: MANY }, (_, index) => [`f${index}`, index]));
    const inputs = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`n${index}`, output]));
    const { total, longest } = countSteps(coreMerge, { mode: 'combine' }, inputs);
    expect(longest).toBeLessThan(PIECE);
    expect(total).toBeLessThan(MANY * 60);
  });
});

it('twice as much data takes twice as many steps', () => {
  const stepsFor = (count: number): number => {
    const items = range(count, row);
    const right = range(count, (index) => `v${index}`);
    const filter = countSteps(coreFilter, { items, conditions: [{ field: 'key', operator: 'in', right }] });
    const join = { operation: 'join', with: items, on: [{ left: 'id', right: 'id' }] };
    const steps = [{ operation: 'unique' }, join, { operation: 'group', by: ['id'] }];
    return filter.total + countSteps(coreData, { data: items, steps }).total;
  };
  const [once, twice] = [stepsFor(4_000), stepsFor(8_000)];
  expect(twice / once).toBeGreaterThan(1.7);
  expect(twice / once).toBeLessThan(2.3);
});
