import { finishWork, type JsonValue, Meter, parseJson } from '@millrace/engine';
import { runs } from '@millrace/testing/property-runs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { areMet } from './conditions.ts';
import { membersOf } from './members.ts';

const isIn = (member: JsonValue, list: readonly JsonValue[]): boolean =>
  finishWork(areMet([{ left: member, operator: 'in', right: list }], 'all', new Meter()));

/** The rule itself: some member is equal. */
const equalsSome = (member: JsonValue, list: readonly JsonValue[]): boolean =>
  list.some((each) =>
    finishWork(areMet([{ left: each, operator: 'equals', right: member }], 'all', new Meter())),
  );

const scalar = fc.constantFrom<JsonValue>(
  ...[
    null,
    true,
    false,
    0,
    -0,
    1,
    1.5,
    2 ** 53,
    '',
    '0',
    '1',
    '1.0',
    '1.5',
    '-0',
    'true',
    'false',
    'null',
    'a',
  ],
  ...['9007199254740993', '9007199254740993.0', '1e400', '10e399', '1e-400'].flatMap((text) => [
    text,
    parseJson(text),
  ]),
);
const value = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 2 }),
  fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), scalar, { maxKeys: 2 }),
) as fc.Arbitrary<JsonValue>;

it('an index of a list finds what comparing with each of its members finds', () => {
  fc.assert(
    fc.property(
      fc.array(value, { minLength: 8, maxLength: 12 }),
      fc.array(value, { minLength: 4 }),
      (list, all) => {
        const meter = new Meter();
        finishWork(membersOf(list, meter));
        expect(finishWork(membersOf(list, meter))).not.toBeNull();
        for (const member of [...all, ...list]) expect(isIn(member, list)).toBe(equalsSome(member, list));
      },
    ),
    { numRuns: runs(500) },
  );
});

it('the first look into a list compares, the second makes the index', () => {
  const list = Array.from({ length: 100 }, (_, index) => ({ index }));
  expect(finishWork(membersOf(list, new Meter()))).toBeNull();
  const members = finishWork(membersOf(list, new Meter()));
  expect(members).not.toBeNull();
  expect(finishWork(membersOf(list, new Meter()))).toBe(members);
});
