import { finishWork, type JsonValue, Meter, parseJson, TooManyStepsError } from '@millrace/engine';
import { saying } from '@millrace/messages/testing';
import { describe, expect, it } from 'vitest';
import {
  type Combine,
  type Condition,
  findPatternFaults,
  areMet as met,
  OPERATORS,
  type Operator,
} from './conditions.ts';

const areMet = (conditions: readonly Condition[], combine: Combine): boolean =>
  finishWork(met(conditions, combine, new Meter()));
const isMet = (condition: Condition): boolean => areMet([condition], 'all');

/** Values are written as JSON text, so that big numbers arrive as a caller would send them. */
type Row = readonly [left: string, operator: Operator, right: string, expected: boolean];

const RULES: { readonly [rule: string]: readonly Row[] } = {
  'rule 1: numbers by exact value': [
    ['9007199254740993', 'equals', '9007199254740992', false],
    ['9007199254740993', 'equals', '9007199254740993', true],
    ['9007199254740993', 'greater_than', '9007199254740992', true],
    ['9007199254740993', 'less_or_equal', '9007199254740992', false],
    ['0.1000000000000000000001', 'greater_than', '0.1', true],
    ['-0.1000000000000000000001', 'less_than', '-0.1', true],
    ['1e400', 'greater_than', '1e399', true],
    ['-1e400', 'less_than', '1e-400', true],
    ['1e400', 'equals', '10e399', true],
    ['1e-400', 'equals', '0', false],
    ['1.0', 'equals', '1', true],
    ['-0', 'equals', '0', true],
    ['100', 'equals', '1e2', true],
    ['9', 'less_than', '10', true],
    ['-9', 'greater_than', '-10', true],
    ['1e99999999999999999999', 'greater_than', '1e99999999999999999998', true],
  ],
  'rule 2: equality': [
    ['5', 'equals', '"5"', true],
    ['"5.0"', 'equals', '5', true],
    ['"9007199254740993"', 'equals', '9007199254740993', true],
    ['"9007199254740993"', 'equals', '9007199254740992', false],
    ['"5.0"', 'equals', '"5"', false],
    ['" 5"', 'equals', '5', false],
    ['"05"', 'equals', '5', false],
    ['""', 'equals', '0', false],
    ['"true"', 'equals', 'true', true],
    ['false', 'equals', '"false"', true],
    ['"1"', 'equals', 'true', false],
    ['1', 'equals', 'true', false],
    ['"A"', 'equals', '"a"', false],
    ['{"a":1,"b":[1,{"c":null}]}', 'equals', '{"b":[1.0,{"c":null}],"a":1}', true],
    ['{"a":1}', 'equals', '{"a":"1"}', false],
    ['{"a":1}', 'equals', '{"a":1,"b":null}', false],
    ['{"a":null}', 'equals', '{"b":null}', false],
    ['[1,2]', 'equals', '[2,1]', false],
    ['[]', 'equals', '{}', false],
    ['{"__proto__":1}', 'equals', '{}', false],
    ['{"n":9007199254740993}', 'equals', '{"n":9007199254740992}', false],
    ['1', 'not_equals', '2', true],
    ['1', 'not_equals', '"1"', false],
  ],
  'rule 3: null': [
    ['null', 'equals', 'null', true],
    ['null', 'equals', '"null"', false],
    ['null', 'equals', '""', false],
    ['null', 'equals', '0', false],
    ['null', 'equals', 'false', false],
  ],
  'rule 4: order': [
    ['"10"', 'greater_than', '"9"', true],
    ['"10"', 'greater_than', '9', true],
    ['10', 'less_than', '"9"', false],
    ['"b"', 'greater_than', '"a"', true],
    ['"B"', 'less_than', '"a"', true],
    ['"a"', 'less_or_equal', '"a"', true],
    ['"2026-01-10T00:00:00Z"', 'less_than', '"2026-02-01T00:00:00Z"', true],
    ['2', 'greater_or_equal', '2', true],
    ['"x"', 'greater_than', '1', false],
    ['"x"', 'less_or_equal', '1', false],
    ['null', 'greater_or_equal', 'null', false],
    ['null', 'less_than', '1', false],
    ['true', 'greater_than', 'false', false],
    ['[2]', 'greater_than', '[1]', false],
    ['{}', 'less_or_equal', '{}', false],
  ],
  'rule 5: containment': [
    ['"abc"', 'contains', '"b"', true],
    ['"abc"', 'contains', '""', true],
    ['"a5c"', 'contains', '5', true],
    ['12345', 'contains', '"34"', true],
    ['9007199254740993', 'contains', '"93"', true],
    ['"null"', 'contains', 'null', false],
    ['[1,"x",null]', 'contains', '"1"', true],
    ['[1,"x",null]', 'contains', 'null', true],
    ['[[1]]', 'contains', '[1]', true],
    ['["ab"]', 'contains', '"a"', false],
    ['{"a":null}', 'contains', '"a"', true],
    ['{}', 'contains', '"toString"', false],
    ['{}', 'contains', '"__proto__"', false],
    ['null', 'contains', '"a"', false],
    ['"abc"', 'not_contains', '"z"', true],
    ['null', 'not_contains', '"a"', true],
    ['"JP"', 'in', '["JP","KR"]', true],
    ['"b"', 'in', '"abc"', true],
    ['"FR"', 'in', '["JP","KR"]', false],
    ['"FR"', 'not_in', '["JP","KR"]', true],
    ['"x"', 'in', 'null', false],
  ],
  'rule 6: beginnings and ends': [
    ['"refund.created"', 'starts_with', '"refund"', true],
    ['"refund"', 'starts_with', '"fund"', false],
    ['8100', 'starts_with', '81', true],
    ['"a.pdf"', 'ends_with', '".pdf"', true],
    ['"a.pdf"', 'ends_with', '".PDF"', false],
    ['["a"]', 'starts_with', '"a"', false],
    ['null', 'ends_with', '""', false],
  ],
  'rule 7: presence and truth': [
    ['null', 'exists', 'null', false],
    ['false', 'exists', 'null', true],
    ['""', 'exists', 'null', true],
    ['null', 'not_exists', 'null', true],
    ['null', 'is_empty', 'null', true],
    ['""', 'is_empty', 'null', true],
    ['[]', 'is_empty', 'null', true],
    ['{}', 'is_empty', 'null', true],
    ['0', 'is_empty', 'null', false],
    ['false', 'is_empty', 'null', false],
    ['9007199254740993', 'is_empty', 'null', false],
    ['" "', 'is_not_empty', 'null', true],
    ['[null]', 'is_not_empty', 'null', true],
    ['true', 'is_true', 'null', true],
    ['"true"', 'is_true', 'null', true],
    ['1', 'is_true', 'null', false],
    ['null', 'is_false', 'null', false],
    ['false', 'is_false', 'null', true],
  ],
};

const DATES: readonly Row[] = [
  ['"2026-03-01T00:00:00+09:00"', 'before', '"2026-03-01T00:00:00Z"', true],
  ['"2026-03-01"', 'before', '"2026-03-01T00:00:00Z"', false],
  ['"2026-03-01"', 'on_or_before', '"2026-03-01T00:00:00Z"', true],
  ['"2026-03-01"', 'on_or_after', '1772323200', true],
  ['1772323200001', 'after', '"2026-03-01"', true],
  ['"2026-02-30"', 'on_or_before', '"2026-03-01"', false],
  ['"soon"', 'after', '"2026-03-01"', false],
  ['null', 'before', '"2026-03-01"', false],
  ['"2026-03-01"', 'after', 'null', false],
];

const PATTERNS: readonly Row[] = [
  ['"AB-12"', 'matches', '"^[A-Z]+-\\\\d+$"', true],
  ['"xAB-12"', 'matches', '"^[A-Z]+-"', false],
  ['4711', 'matches', '"71"', true],
  ['true', 'matches', '"^true$"', true],
  ['null', 'matches', '""', false],
  ['["a"]', 'matches', '"a"', false],
  ['"a"', 'matches', '"("', false],
  ['"a"', 'not_matches', '"("', true],
  ['"aa"', 'matches', '"(a)\\\\1"', false],
  ['"a"', 'matches', '1', false],
  ['"b"', 'not_matches', '"a"', true],
];

describe.each([
  ['rule 9: dates', DATES],
  ['rule 10: patterns', PATTERNS],
] as const)('%s', (_rule, rows) => {
  it.each(rows)('%s %s %s is %s', (left, operator, right, expected) => {
    expect(isMet({ left: parseJson(left), operator, right: parseJson(right) })).toBe(expected);
  });
});

describe('rule 11: ignoring case', () => {
  it.each<Row>([
    ['"ÄRGER"', 'equals', '"ärger"', true],
    ['"A"', 'not_equals', '"a"', false],
    ['"Refund"', 'starts_with', '"REF"', true],
    ['"a.PDF"', 'ends_with', '".pdf"', true],
    ['"Order REFUND"', 'contains', '"refund"', true],
    ['["VIP","new"]', 'contains', '"vip"', true],
    ['"jp"', 'in', '["JP","KR"]', true],
    ['"jp"', 'not_in', '["JP","KR"]', false],
    ['{"A":1}', 'contains', '"a"', false],
    ['"B"', 'greater_than', '"a"', true],
    ['"RE: Urgent"', 'matches', '"^(re|fw): urgent|x"', true],
    ['"Y"', 'not_matches', '"x|y"', false],
    ['5', 'equals', '"5"', true],
    ['null', 'equals', '"a"', false],
  ])('%s %s %s is %s', (left, operator, right, expected) => {
    expect(isMet({ left: parseJson(left), operator, right: parseJson(right), ignore_case: true })).toBe(
      expected,
    );
  });
});

describe('patterns', () => {
  it('take time in proportion to the text, and what is too long ends the node', () => {
    const pattern = `(a+)+${'b?'.repeat(100)}$`;
    const condition: Condition = { left: 'a'.repeat(1_000_000), operator: 'matches', right: pattern };
    expect(() => finishWork(met([condition], 'all', new Meter()), 1_000_000)).toThrow(TooManyStepsError);
  });

  it('that are constant are checked with the settings', () => {
    const conditions = [
      { left: 'a', operator: 'matches', right: 'a|b' },
      { left: 'a', operator: 'equals', right: '(' },
      { left: 'a', operator: 'matches', right: '{{vars.pattern}}(' },
      { left: 'a', operator: 'not_matches', right: '(' },
    ];
    expect(findPatternFaults(conditions, '/conditions')).toEqual([
      { pointer: '/conditions/3/right', message: saying(/not a regular expression/) },
    ]);
    expect(findPatternFaults('{{vars.all}}', '')).toEqual([]);
  });
});

describe.each(Object.entries(RULES))('%s', (_rule, rows) => {
  it.each(rows)('%s %s %s is %s', (left, operator, right, expected) => {
    expect(isMet({ left: parseJson(left), operator, right: parseJson(right) })).toBe(expected);
  });
});

const SAMPLES: readonly JsonValue[] = [
  ...[
    'null',
    'true',
    '0',
    '-1.5',
    '9007199254740993',
    '""',
    '"a"',
    '"5"',
    '[]',
    '[1]',
    '{}',
    '{"a":[1]}',
  ].map(parseJson),
];
const PAIRS = SAMPLES.flatMap((left) => SAMPLES.map((right) => ({ left, right })));

describe('rule 8: opposites', () => {
  const opposites: [Operator, Operator][] = [
    ['equals', 'not_equals'],
    ['contains', 'not_contains'],
    ['in', 'not_in'],
    ['exists', 'not_exists'],
    ['is_empty', 'is_not_empty'],
  ];

  it.each(opposites)('%s is never the same as %s', (operator, opposite) => {
    for (const pair of PAIRS) {
      expect(isMet({ ...pair, operator }), JSON.stringify(pair)).toBe(
        !isMet({ ...pair, operator: opposite }),
      );
    }
  });
});

describe('every operator', () => {
  it.each(OPERATORS)('%s is defined for every pair of types', (operator) => {
    for (const pair of PAIRS) expect(typeof isMet({ ...pair, operator })).toBe('boolean');
  });

  it('compares values nested ten thousand deep', () => {
    let deep: JsonValue = 1;
    let other: JsonValue = 2;
    for (let level = 0; level < 10_000; level += 1) {
      deep = [deep];
      other = [other];
    }
    expect(isMet({ left: deep, operator: 'equals', right: deep })).toBe(true);
    expect(isMet({ left: deep, operator: 'equals', right: other })).toBe(false);
  });

  it('treats a missing side as null', () => {
    expect(isMet({ operator: 'equals' })).toBe(true);
    expect(isMet({ left: 1, operator: 'is_empty' })).toBe(false);
  });
});

describe('combining', () => {
  const yes = { left: 1, operator: 'equals', right: 1 } as const;
  const no = { left: 1, operator: 'equals', right: 2 } as const;

  it('all requires every condition', () => {
    expect(areMet([yes, yes], 'all')).toBe(true);
    expect(areMet([yes, no], 'all')).toBe(false);
  });

  it('any requires one', () => {
    expect(areMet([no, yes], 'any')).toBe(true);
    expect(areMet([no, no], 'any')).toBe(false);
  });
});
