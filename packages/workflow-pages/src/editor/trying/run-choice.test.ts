import { describe, expect, test } from 'vitest';
import {
  chooseSource,
  inputOf,
  type KnownInputs,
  NO_CHOICE,
  type RunChoice,
  sourceOf,
} from './run-choice.ts';

const past = (execution_id: number, input?: object, trigger_type = 'webhook') =>
  ({
    execution_id,
    trigger_type,
    created_at: `2026-01-01T00:00:0${execution_id}Z`,
    ...(input === undefined ? {} : { input }),
  }) as unknown as KnownInputs['executions'][number];
const sample = { data: { from: 'sample' }, received_at: '2026-01-01T00:00:05Z' } as unknown as NonNullable<
  KnownInputs['sample']
>;
const known = (over: Partial<KnownInputs> = {}): KnownInputs => ({
  schema: null,
  sample: null,
  executions: [],
  ...over,
});
const value = (json: object) => ({ kind: 'value', value: json });

describe('the initial input of a run', () => {
  test.each([
    ['nothing', known(), 'json', value({})],
    ['the sample', known({ sample, executions: [past(7)] }), 'sample', value({ from: 'sample' })],
    ['the last execution', known({ executions: [past(7), past(6)] }), 'past', { kind: 'of', executionId: 7 }],
    ['a form', known({ schema: {} }), 'form', value({})],
    ['a form after a run', known({ schema: {}, executions: [past(7, { a: 1 })] }), 'form', value({ a: 1 })],
    [
      'a form, and an input too large to be listed',
      known({ schema: {}, executions: [past(7)] }),
      'form',
      value({}),
    ],
  ])('before anything was chosen, with %s', (_what, all, source, input) => {
    expect([sourceOf(NO_CHOICE, all), inputOf(NO_CHOICE, all)]).toEqual([source, input]);
  });

  test.each([
    ['a later run by hand', [past(7), past(6, { a: 1 }, 'manual')], 'past', { kind: 'of', executionId: 6 }],
    [
      'a later one with the sample',
      [past(6, { from: 'sample' }, 'manual')],
      'sample',
      value({ from: 'sample' }),
    ],
    ['an earlier one', [past(7), past(4, { a: 1 }, 'manual')], 'sample', value({ from: 'sample' })],
  ])('with a sample and %s, is what was last', (_what, executions, source, input) => {
    const all = known({ sample, executions });
    expect([sourceOf(NO_CHOICE, all), inputOf(NO_CHOICE, all)]).toEqual([source, input]);
    const form = inputOf(NO_CHOICE, { ...all, schema: {} });
    expect(form).toEqual(value(source === 'past' ? { a: 1 } : { from: 'sample' }));
  });

  test('stays as chosen while that is available', () => {
    const all = known({ sample, executions: [past(7), past(6)] });
    const choice: RunChoice = { source: 'past', input: { kind: 'of', executionId: 6 }, text: null };
    expect(inputOf(choice, all)).toEqual({ kind: 'of', executionId: 6 });
    expect(sourceOf({ ...choice, source: 'form' }, all)).toBe('sample');
    expect(sourceOf({ ...choice, source: 'sample' }, known())).toBe('json');
  });

  test('as JSON starts from the previous input', () => {
    const all = known({ executions: [past(7, { a: 1 })] });
    expect(chooseSource(NO_CHOICE, all, 'json')).toMatchObject({ input: value({ a: 1 }) });
  });
});
