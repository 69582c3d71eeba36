import { inEnglish } from '@millrace/messages/english';
import { saying } from '@millrace/messages/testing';
import { runs } from '@millrace/testing/property-runs';
import { type JsonValue, parseJson, stringifyJson } from '@millrace/values/json';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTemplate, type Template } from '../src/template.ts';
import { type Expression, TIGHTNESS } from '../src/template-expression.ts';
import { render } from '../src/template-render.ts';

const NOW_MS = Date.parse('2026-03-01T10:00:00Z');
const LIMIT = 100_000;

function rendered(expression: string, data: JsonValue = {}, onSteps?: (steps: number) => void): JsonValue {
  const parsed = parseTemplate(`{{${expression}}}`);
  if (!parsed.ok) throw new Error(inEnglish(parsed.error.message));
  const scope = { triggerData: data, executionId: 42, vars: {}, nowMs: NOW_MS, nodeOutput: () => null };
  return render(parsed.template, scope, LIMIT, onSteps);
}

function errorOf(expression: string) {
  const parsed = parseTemplate(`{{${expression}}}`);
  if (parsed.ok) throw new Error(`${expression} was understood`);
  return { ...parsed.error, offset: parsed.error.offset - 2 };
}

describe('operators', () => {
  it.each<[string, JsonValue]>([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['10 - 4 - 3', 3],
    ['-2 * -3', 6],
    ['- (2 + 1)', -3],
    ['2 -3', -1],
    ['7 % 4 + 7 % -4', 6],
    ['-7 % 4', -3],
    ['1.10 * 1', 1.1],
    ['1 / 3', 0.333333333333333],
    ['1 ~ 2 ~ "x"', '12x'],
    ['1 + 1 ~ "x"', '2x'],
    ['1 < 2 == true', true],
    ['!true || true', true],
    ['!!"x"', true],
    ['null ?? 0 || "x"', 'x'],
    ['"" || 0', 0],
    ['0 && 1', 0],
    ['1 && 2', 2],
    ['true ? 1 : false ? 2 : 3', 1],
    ['false ? 1 : false ? 2 : 3', 3],
    ['true ? (false ? 1 : 2) : 3', 2],
    ['"5" + "6"', 11],
    ['"5" * 2 == 10', true],
    ['null + 1', null],
    ['true + 1', null],
    ['"b" > "a"', true],
    ['"10" > "9"', true],
    ['1 > "x"', false],
    ['1 <= "x"', false],
    ['null < 1', false],
    ['null == null', true],
    ['"2026-01-01T00:00:00+09:00" < "2026-01-01T00:00:00Z"', true],
    ['1 == "1.0"', true],
    ['"1" == "1.0"', false],
    ['true == "true"', false],
    ['"a" | upper ~ 1', null],
  ])('T16 T17: %s', (expression, expected) => {
    if (expression.includes('| upper ~')) expect(errorOf(expression).offset).toBe(12);
    else expect(rendered(expression)).toEqual(expected);
  });

  it('T17: no digit of a large number is lost', () => {
    const data = parseJson('{"big":9007199254740993,"huge":1e400}');
    expect(stringifyJson(rendered('trigger.data.big * 3 - 1', data))).toBe('27021597764222978');
    expect(rendered('trigger.data.big == 9007199254740992', data)).toBe(false);
    expect(rendered('trigger.data.huge > 1e300', data)).toBe(true);
    expect(rendered('trigger.data.huge + 1 > trigger.data.huge', data)).toBe(true);
    expect(rendered('1e999 * 1e999 * 1e999', {})).toBeNull();
  });

  it('T17: equality looks into lists and objects', () => {
    const data = { a: { x: [1, { y: 2 }] }, b: { x: [1, { y: 2 }] }, c: { x: [1] } };
    expect(rendered('trigger.data.a == trigger.data.b', data)).toBe(true);
    expect(rendered('trigger.data.a != trigger.data.c', data)).toBe(true);
  });

  it.each<[string, string, JsonValue]>([
    ['trigger.data.a-b', 'a-b', 1],
    ['trigger.data.a+b', 'a+b', 1],
    ['trigger.data.a>5', 'a>5', 1],
    ['trigger.data.a?', 'a?', 1],
    ['trigger.data.a&&b', 'a&&b', 1],
    ['trigger.data.!', '!', 1],
    ['trigger.data.a==1|string', 'a==1', '1'],
    ['trigger.data.now', 'now', 1],
    ['trigger.data.it', 'it', 1],
    ['trigger.data.true', 'true', 1],
  ])('T4 T16: %s reads a member, as ever', (expression, name, expected) => {
    expect(rendered(expression, { [name]: 1 })).toEqual(expected);
  });

  it.each<[string, number, RegExp]>([
    ['1 +', 3, /a value must stand here/],
    ['a = 1', 2, /= is not an operator here; write ==/],
    ['a === 1', 2, /=== is not .* write ==/],
    ['a and b', 2, /write &&/],
    ['* 2', 0, /a value must stand here/],
    ['1 < 2 < 3', 6, /only two values/],
    ['a | length > 3', 11, /needs parentheses/],
    ['a ? b', 5, /condition \? value : other value/],
    ['a ? b | upper : c', 6, /needs parentheses/],
    ['(a', 2, /closing \) is missing/],
    ['"a" + trigger.data.x', 4, /write ~/],
    ['a | where: (it.x', 16, /closing \) is missing/],
    ['a | matches: "("', 4, /not a regular expression/],
    ['a | match: "(a)\\\\1"', 4, /reference to a group/],
    ['a | match: "(?=a)"', 4, /lookahead/],
    ['a | match: "^(?=a)"', 4, /not supported/],
    ['a | date_add: 1, "fortnights"', 4, /one of milliseconds, seconds/],
    ['a | start_of: "day", "Mars"', 4, /time zone/],
  ])('T11 T14: %s is an error at %i', (expression, offset, said) => {
    expect(errorOf(expression)).toMatchObject({ code: 'template_syntax', offset, message: saying(said) });
  });

  it('T18: now is the given moment, or null', () => {
    expect(rendered('now')).toBe('2026-03-01T10:00:00.000Z');
    const parsed = parseTemplate('{{now}}');
    if (!parsed.ok) throw new Error('was not understood');
    const scope = { triggerData: null, executionId: 1, vars: {}, nodeOutput: () => null };
    expect(render(parsed.template, scope, LIMIT)).toBeNull();
  });
});

describe('items of lists', () => {
  it('T19: it is the item of the innermost list', () => {
    const data = {
      rows: [
        { n: 2, tags: ['a', 'b'] },
        { n: 1, tags: ['b'] },
      ],
      wanted: 'a',
    };
    expect(rendered('trigger.data.rows | sort: (0 - it.n) | map: (it.n * 10)', data)).toEqual([20, 10]);
    expect(rendered('trigger.data.rows | map: (it.tags | where: (it == "b"))', data)).toEqual([['b'], ['b']]);
    expect(
      rendered('trigger.data.rows | where: (it.tags | contains: trigger.data.wanted) | length', data),
    ).toBe(1);
    expect(rendered('trigger.data.rows | where: (it.n), 1 | length', data)).toBe(1);
    expect(rendered('trigger.data.rows | unique: (it.tags | last) | length', data)).toBe(1);
    expect(rendered('trigger.data.rows | max: (it.n * it.n)', data)).toBe(4);
    expect(rendered('trigger.data.rows | map: it.n', data)).toEqual([2, 1]);
  });

  it('T19: an argument without it names a field', () => {
    expect(rendered('trigger.data | map: ("a" ~ "b")', [{ ab: 1 }])).toEqual([1]);
  });
});

describe('patterns', () => {
  it('T20: groups, and what they do not match', () => {
    expect(rendered('trigger.data | match: "(a)|(b)", 2', 'xa')).toBeNull();
    expect(rendered('trigger.data | match: "(a)", 9', 'xa')).toBeNull();
    expect(rendered('trigger.data | match: "(?<x>a)", "constructor"', 'xa')).toBeNull();
    expect(rendered('trigger.data | match: "x*"', '')).toBe('');
    expect(rendered('trigger.data.t | match: trigger.data.p', { t: 'a', p: '(' })).toBeNull();
    expect(rendered('trigger.data.t | matches: trigger.data.p', { t: 'a', p: 5 })).toBe(false);
  });

  it('T20: replaces every match once, empty ones too', () => {
    expect(rendered('trigger.data | replace_pattern: "x*", "-"', 'a😀b')).toBe('-a-😀-b-');
    expect(rendered('trigger.data | replace_pattern: "^a", "b"', 'aaa')).toBe('baa');
    expect(rendered('trigger.data | replace_pattern: "a", "$&$1"', 'ab')).toBe('$&$1b');
  });
});

describe('dates', () => {
  it.each<[string, JsonValue]>([
    // Clocks in New York go from 2:00 to 3:00.
    ['"2026-03-07T02:30:00-05:00" | date_add: 1, "day", "America/New_York"', '2026-03-08T07:30:00.000Z'],
    ['"2026-03-07T02:30:00-05:00" | date_add: 24, "hours", "America/New_York"', '2026-03-08T07:30:00.000Z'],
    // And back from 2:00 to 1:00: the first of the two.
    ['"2026-10-31T01:30:00-04:00" | date_add: 1, "day", "America/New_York"', '2026-11-01T05:30:00.000Z'],
    ['"2026-11-01T12:00:00-05:00" | start_of: "day", "America/New_York"', '2026-11-01T04:00:00.000Z'],
    ['"2026-11-01T12:00:00-05:00" | end_of: "day", "America/New_York"', '2026-11-02T04:59:59.999Z'],
    ['"2024-02-29" | date_add: 1, "year"', '2025-02-28T00:00:00.000Z'],
    ['"2024-02-29" | date_add: -1, "quarter"', '2023-11-29T00:00:00.000Z'],
    ['"2026-01-01" | date_add: 0.5, "days"', null],
    ['"2026-01-01" | date_add: 1e12, "days"', null],
    ['"2026-01-01" | date_add: 1e30, "hours"', null],
    ['"soon" | date_add: 1, "day"', null],
    ['"2026-05-20" | start_of: "quarter"', '2026-04-01T00:00:00.000Z'],
    ['"2026-01-01" | start_of: "week"', '2025-12-29T00:00:00.000Z'],
    ['"2026-03-01T10:20:30.456Z" | start_of: "minute"', '2026-03-01T10:20:00.000Z'],
    ['"2026-03-01T10:20:30.456Z" | end_of: "hour", "Asia/Kolkata"', '2026-03-01T10:29:59.999Z'],
    ['"2026-03-08T12:00:00-04:00" | date_diff: "2026-03-07T12:00:00-05:00", "days", "America/New_York"', 1],
    ['"2026-03-08T12:00:00-04:00" | date_diff: "2026-03-07T12:00:00-05:00", "hours"', 23],
    ['"2026-01-01" | date_diff: "2026-03-31", "months"', -2],
    ['"2026-01-01T00:00:00.001Z" | date_diff: "2026-01-01", "seconds"', 0.001],
    ['"2026-01-08" | date_diff: "2026-01-01", "weeks"', 1],
    ['"2026-01-01" | date_diff: "never"', null],
  ])('T21: %s', (expression, expected) => {
    expect(rendered(expression)).toEqual(expected);
  });

  it('T21: going there and back counts the same, in every zone', () => {
    const zone = fc.constantFrom('UTC', 'America/New_York', 'Europe/Berlin', 'Asia/Kolkata', 'Pacific/Apia');
    const unit = fc.constantFrom('hours', 'days', 'weeks', 'months', 'years');
    const start = fc.integer({ min: Date.parse('1990-01-01'), max: Date.parse('2030-01-01') });
    fc.assert(
      fc.property(start, fc.integer({ min: 0, max: 50 }), unit, zone, (ms, count, name, where) => {
        const from = new Date(ms).toISOString();
        const to = rendered(`"${from}" | date_add: ${count}, "${name}", "${where}"`);
        const between = rendered(`${JSON.stringify(to)} | date_diff: "${from}", "${name}", "${where}"`);
        expect(between).toBe(count);
      }),
      { numRuns: runs(100) },
    );
  });
});

/** A tree of which the value is known without the evaluator. */
interface Tree {
  readonly text: string;
  /** How tightly what it is made of is bound; operands most tightly. */
  readonly tightness: number;
  readonly value: JsonValue;
}

const OPERAND = 100;
const PREFIX = 50;
const CHOICE = -1;

/** In parentheses where it is needed, and sometimes where it isn't. */
function within({ text, tightness }: Tree, least: number, isLoose: boolean): string {
  return tightness < least || isLoose ? `( ${text} )` : text;
}

const yes = (value: JsonValue): boolean => value !== null && value !== false && value !== 0 && value !== '';

function compute(operator: string, left: JsonValue, right: JsonValue): JsonValue {
  const areNumbers = typeof left === 'number' && typeof right === 'number';
  const areTexts = typeof left === 'string' && typeof right === 'string';
  switch (operator) {
    case '||':
      return yes(left) ? left : right;
    case '&&':
      return yes(left) ? right : left;
    case '??':
      return left ?? right;
    case '==':
      return left === right;
    case '!=':
      return left !== right;
    case '<':
      return (areNumbers || areTexts) && left < right;
    case '>=':
      return (areNumbers || areTexts) && left >= right;
    case '+':
      return areNumbers ? left + right : null;
    case '-':
      return areNumbers ? left - right : null;
    case '*':
      return areNumbers ? left * right : null;
    default:
      throw new Error(operator);
  }
}

/** Without `~`: text joined of digits counts as a number, which the simple evaluation doesn't know. */
const ORDERED = ['||', '??', '&&', '==', '!=', '<', '>=', '+', '-', '*'] as const;

const { tree } = fc.letrec<{ tree: Tree; leaf: Tree; prefix: Tree; infix: Tree; choice: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tie('leaf'),
    tie('prefix'),
    tie('infix'),
    tie('choice'),
  ),
  leaf: fc.oneof(
    fc.nat({ max: 9 }).map((value): Tree => ({ text: JSON.stringify(value), tightness: OPERAND, value })),
    fc
      .constantFrom<JsonValue>(true, false, null)
      .map((value): Tree => ({ text: JSON.stringify(value), tightness: OPERAND, value })),
    // Letters only: digits would be numbers.
    fc
      .constantFrom('', 'a', 'b')
      .map((value): Tree => ({ text: `trigger.data["${value}"]`, tightness: OPERAND, value })),
  ),
  prefix: fc.tuple(tie('tree'), fc.boolean()).map(
    ([of, isLoose]): Tree => ({
      text: `!${within(of, PREFIX, isLoose)}`,
      tightness: PREFIX,
      value: !yes(of.value),
    }),
  ),
  infix: fc
    .tuple(fc.constantFrom(...ORDERED), tie('tree'), tie('tree'), fc.boolean(), fc.boolean())
    .map(([operator, left, right, first, second]): Tree => {
      const tightness = TIGHTNESS.get(operator) ?? 0;
      const isComparing = ['==', '!=', '<', '>='].includes(operator);
      const [a, b] = [
        within(left, isComparing ? tightness + 1 : tightness, first),
        within(right, tightness + 1, second),
      ];
      return { text: `${a} ${operator} ${b}`, tightness, value: compute(operator, left.value, right.value) };
    }),
  choice: fc.tuple(tie('tree'), tie('tree'), tie('tree'), fc.boolean()).map(
    ([test, first, second, isLoose]): Tree => ({
      text: `${within(test, 0, isLoose)} ? ${first.text} : ${second.text}`,
      tightness: CHOICE,
      value: yes(test.value) ? first.value : second.value,
    }),
  ),
}));

/** A parsed expression as text again, with all parentheses. */
function written(template: Template): string {
  if (template.kind !== 'expression') throw new Error(`${template.kind} is no expression`);
  const write = (part: Expression): string => {
    switch (part.kind) {
      case 'literal':
        return JSON.stringify(part.value);
      case 'path':
        return `trigger.data[${JSON.stringify(part.names[2])}]`;
      case 'prefix':
        return `(${part.operator} ${write(part.operand)})`;
      case 'infix':
        return `(${write(part.left)} ${part.operator} ${write(part.right)})`;
      case 'choice':
        return `(${write(part.test)} ? ${write(part.yes)} : ${write(part.no)})`;
      default:
        throw new Error(part.kind);
    }
  };
  return write(template.expression);
}

const ITSELF = { '': '', a: 'a', b: 'b' };

it('T16 T17: expressions mean what a simple evaluation of their tree says, with and without parentheses', () => {
  fc.assert(
    fc.property(tree, ({ text, value }) => {
      const parsed = parseTemplate(`{{${text}}}`);
      if (!parsed.ok) {
        expect(text.length).toBeGreaterThan(500);
        return;
      }
      expect(rendered(text, ITSELF)).toEqual(Object.is(value, -0) ? 0 : value);
      expect(parseTemplate(`{{${written(parsed.template)}}}`)).toEqual(parsed);
    }),
    { numRuns: runs(1_000) },
  );
});

it('T16: any mixture of tokens parses or is an error with a place, and renders within the bounds', () => {
  const token = fc.constantFrom(
    ...['(', ')', '(', ')', '|', ':', ',', '?', ' ', '!', '-', '.', '5', '0.1', '"a"', "'5'", 'null', 'true'],
    ...[...TIGHTNESS.keys()].map((operator) => ` ${operator} `),
    ...[
      'trigger.data',
      'trigger.data.a',
      'it',
      'it.a',
      'now',
      'map:',
      'where:',
      'sum:',
      'matches: "a*"',
      'match:',
    ],
    ...[
      'replace_pattern: "a", "b"',
      'date_add: 1, "day"',
      'date_diff:',
      'start_of: "week"',
      'concat:',
      'length',
    ],
  );
  fc.assert(
    fc.property(fc.array(token, { maxLength: 25 }), fc.jsonValue(), (tokens, data) => {
      const text = tokens.join(tokens.length % 2 === 0 ? '' : ' ');
      const parsed = parseTemplate(`{{${text}}}`);
      if (!parsed.ok) {
        expect(parsed.error.offset).toBeLessThanOrEqual(text.length + 4);
        return;
      }
      const value = rendered(text, data as JsonValue);
      expect(() => stringifyJson(value)).not.toThrow();
    }),
    { numRuns: runs(2_000) },
  );
});

describe('bounds', () => {
  const list = Array.from({ length: 2_000 }, (_, index) => ({ n: index, text: 'x'.repeat(20) }));
  const hostile: readonly [string, JsonValue][] = [
    ['trigger.data | map: (it.n + (trigger.data | map: (it.n) | length)) | length', list],
    ['trigger.data | map: (it.n + (trigger.data | where: (it.n > 5) | length)) | length', list],
    ['trigger.data | sort: (it.n * (trigger.data | sum: (it.n * it.n))) | length', list],
    ['trigger.data | replace_pattern: "a*b|a", "c" | length', 'a'.repeat(20_000)],
    [
      `trigger.data | where: (it | matches: "(x+x+)+y${'[a-z]?'.repeat(60)}") | length`,
      Array.from({ length: 500 }, () => 'x'.repeat(1_000)),
    ],
    [
      'trigger.data | sum: (it | date_diff: now) | length',
      Array.from({ length: 60_000 }, () => '2026-01-01'),
    ],
  ];

  it.each(hostile)('T15 T19 T20: %s takes too many steps', (expression, data) => {
    expect(() => rendered(expression, data)).toThrow(
      expect.objectContaining({ code: 'template_too_expensive' }),
    );
  });

  it('T10: texts in between count', () => {
    const expression = `trigger.data${' ~ trigger.data'.repeat(100)} | length`;
    expect(() => rendered(expression, 'x'.repeat(10_000))).toThrow(
      expect.objectContaining({ code: 'template_too_large' }),
    );
  });

  it.each<[string, string, RegExp]>([
    ['parentheses', `${'('.repeat(31)}1${')'.repeat(31)}`, /30 levels/],
    ['signs', `${'!'.repeat(5_000)}1`, /30 levels/],
    ['choices', `${'1 ? '.repeat(1_000)}1`, /30 levels/],
    ['operators', `1${' + 1'.repeat(201)}`, /200 operators/],
    ['filters in parentheses', `(${'1 | string | string) ~ ('.repeat(100)}1)`, /30 levels/],
    ['characters', `"${'x'.repeat(10_001)}"`, /longer than 10000/],
  ])('T22: too many %s', (_, expression, said) => {
    expect(errorOf(expression)).toMatchObject({ code: 'template_syntax', message: saying(said) });
  });

  it('T22: what is just within them is computed', () => {
    expect(rendered(`${'('.repeat(30)}1${')'.repeat(30)}`)).toBe(1);
    expect(rendered(`1${' + 1'.repeat(200)}`)).toBe(201);
  });
});
