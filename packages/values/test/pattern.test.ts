import { describeUnusableSchema, findSchemaFaults, validateValue } from '@millrace/engine';
import { inEnglish } from '@millrace/messages/english';
import { saying } from '@millrace/messages/testing';
import { runs } from '@millrace/testing/property-runs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../src/json.ts';
import { findPatternFault, LinearRegExp } from '../src/pattern.ts';

function faultOf(schema: JsonValue): string | undefined {
  const [fault] = findSchemaFaults(schema);
  return fault && `${fault.pointer} ${inEnglish(fault.message)}`;
}

function matches(pattern: string, text: string): boolean {
  return validateValue({ pattern }, text).length === 0;
}

/** Realistic user patterns, with all the syntax that both engines support. */
const PATTERN: fc.Arbitrary<string> = fc.letrec<{
  pattern: string;
  branch: string;
  piece: string;
  atom: string;
}>((tie) => ({
  pattern: fc.array(tie('branch'), { minLength: 1, maxLength: 2 }).map((branches) => branches.join('|')),
  branch: fc.array(tie('piece'), { maxLength: 4 }).map((pieces) => pieces.join('')),
  piece: fc.oneof(
    fc.constantFrom('^', '$', '\\b', '\\B', '(?<=a)', '(?<![b-])', '(?<=^|-)'),
    fc
      .tuple(tie('atom'), fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,3}', '{0,}', '*?', '+?'))
      .map(([atom, quantifier]) => `${atom}${quantifier}`),
  ),
  atom: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(
      'a',
      'b',
      '-',
      '/',
      ' ',
      '日',
      '.',
      '\\d',
      '\\D',
      '\\w',
      '\\W',
      '\\s',
      '\\S',
      '\\p{L}',
      '\\P{Lu}',
    ),
    fc.constantFrom(
      '\\u0061',
      '\\u{1f600}',
      '\\ud83d\\ude00',
      '\\x62',
      '\\cJ',
      '\\t',
      '\\n',
      '\\v',
      '\\0',
      '\\.',
      '\\/',
    ),
    fc.constantFrom('\\p{Script=Greek}', '\\p{Lu}', '[]', '[^]', '[\\b]', '[\\]\\-]', '[\\ud83d\\ude00a]'),
    fc.constantFrom(
      '[a-c]',
      '[^a]',
      '[[:alpha:]',
      '[\\s-]',
      '[^\\s]',
      '[\\Sa]',
      '[^\\S ]',
      '[^\\w.]',
      '[\\u0061-\\u0063]',
    ),
    tie('pattern').map((inside) => `(${inside})`),
    tie('pattern').map((inside) => `(?:${inside})`),
    tie('pattern').map((inside) => `(?<name>${inside})`),
  ),
})).pattern;

const TEXT = fc
  .array(
    fc.constantFrom(...'aaabbc-/ .]:\t\n\r\v\0\b日Ωé😀\u00a0\u0085\u1680\u2003\u2028\u3000\ufeffAZ019_'),
    { maxLength: 8 },
  )
  .map((characters) => characters.join(''));

describe("patterns in users' schemas", () => {
  it('P14: a pattern matches what it matches in JavaScript', () => {
    const property = fc.property(
      PATTERN,
      fc.array(TEXT, { minLength: 5, maxLength: 5 }),
      (pattern, texts) => {
        let native: RegExp;
        try {
          native = new RegExp(pattern, 'u');
        } catch {
          return; // Duplicate group names.
        }
        const linear = new LinearRegExp(pattern);
        for (const text of texts) {
          // V8 also reports a false boundary between the halves of a surrogate pair.
          if (pattern.includes('\\B') && text.includes('😀')) continue;
          expect(linear.test(text), `${pattern} on ${JSON.stringify(text)}`).toBe(native.test(text));
        }
      },
    );
    fc.assert(property, { numRuns: runs(1_000) });
  });

  it.each([
    '^(?=.*\\d)(?=.*[a-z])(?!.*--).{2,}$',
    '^(?!x-|-)[a-z-]*(?<!-)$',
    '^(?=a|b)(?:a1|c|-)',
    '^(?:(?i:ab)|-)+$',
  ])('P14: %s, which RE2 does not support as written, matches what it matches in JavaScript', (pattern) => {
    const native = new RegExp(pattern, 'u');
    const texts = fc.stringMatching(/^[abcx1A-]{0,6}$/);
    fc.assert(
      fc.property(texts, (text) => {
        expect(matches(pattern, text)).toBe(native.test(text));
      }),
    );
  });

  it.each([
    '^[A-Z]{3}-\\d+$',
    '^[^@]+@[^@]+\\.[^@]+$',
    '^(?:25[0-5]|2[0-4]\\d)(?:\\.(?:25[0-5]|2[0-4]\\d)){3}$',
    '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(?::\\d\\d)?(?:Z|[+-]\\d\\d:?\\d\\d)$',
    '^(?<year>\\d{4})$',
    '^.{1,1000}$',
    '(a+)+$',
    '(?:a|b|ab){2,}',
  ])('P14: %s is supported, for values and for names', (pattern) => {
    expect(faultOf({ pattern })).toBeUndefined();
    expect(faultOf({ patternProperties: { [pattern]: {} } })).toBeUndefined();
  });

  it.each([
    ['(', 'is not a regular expression'],
    ['x'.repeat(501), 'is longer than 500 characters'],
    ['a(?=b)', 'contains a lookahead that does not directly follow a ^'],
    ['(?!a)', 'contains a lookahead that does not directly follow a ^'],
    ['^(?=a(?!b))', 'contains a lookahead that does not directly follow a ^'],
    ['^(?=a)b|c', 'contains a lookahead in one of several alternatives'],
    ['(a|b)\\1', 'contains a reference to a group, \\1,'],
    ['(?<x>a)\\k<x>', 'contains a reference to a group, \\k<x>,'],
    ['(?s:.)', 'contains (?s:,'],
    ['\\p{Script_Extensions=Greek}', 'contains \\p{Script_Extensions=Greek},'],
    ['^.{1,1001}$', 'repeats something more than 1,000 times'],
    ['(?:[a-z]?){1000}'.repeat(30), 'is too large'],
  ])('P14: %s is refused, with the reason, for values and for names', (pattern, reason) => {
    expect(inEnglish(findPatternFault(pattern) ?? '')).toContain(reason);
    expect(faultOf({ properties: { a: { pattern } } })).toContain(`/properties/a/pattern ${reason}`);
    expect(faultOf({ patternProperties: { [pattern]: {} } })).toContain(reason);
    expect(inEnglish(describeUnusableSchema({ pattern }) ?? '')).toContain(reason);
  });

  it('P14: long texts are matched, with patterns that would take JavaScript forever', () => {
    expect(matches('(a+)+$', `${'a'.repeat(1_000_000)}b`)).toBe(false);
    expect(matches('(a+)+$', 'a'.repeat(1_000_000))).toBe(true);
    expect(matches('^\\s*\\s*\\s*\\s*x$', `${' '.repeat(1_000_000)}x`)).toBe(true);
    expect(matches('^(?:a|b|ab)*c$', `${'ab'.repeat(500_000)}c`)).toBe(true);
  });

  it("P14: a value that can't be checked doesn't match, even where a mismatch would be accepted", () => {
    const [error] = validateValue({ not: { pattern: '^.{0,1000}$' } }, 'x'.repeat(100_000));
    expect(inEnglish(error?.message ?? '')).toBe(
      'cannot be checked: the text is too long for the pattern ^.{0,1000}$, which takes at most 24950 characters',
    );
    // A schema stored when this was still allowed. Values that don't reach the pattern are checked.
    const stored = { properties: { a: { pattern: '(a|b)\\1' } } };
    expect(validateValue(stored, { a: 'aa' })).toMatchObject([
      {
        message: saying(
          'cannot be checked: the pattern (a|b)\\1 cannot be used: it contains a reference to a group, \\1, which is not supported',
        ),
      },
    ]);
    expect(validateValue(stored, { b: 1 })).toEqual([]);
  });

  it('P14: name patterns decide which members have which schema', () => {
    const schema = {
      properties: { x: {} },
      patternProperties: { '^n(\\d+)+$': { type: 'number' }, _s$: { type: 'string' }, '': {} },
      additionalProperties: false,
    };
    expect(validateValue(schema, { n1: 1, n22: 2, a_s: 'x', x: null, '': 0 })).toEqual([]);
    expect(validateValue(schema, { n1: 'a', n2: 2, 'a/b_s': 1 }).map(({ pointer }) => pointer)).toEqual([
      '/n1',
      '/a~1b_s',
    ]);
    const closed = { patternProperties: { '^a': {}, '^b': {} }, additionalProperties: false };
    expect(validateValue(closed, { ab: 1, ba: 1, '': 1, '^a': 1 })).toMatchObject([
      { pointer: '/', code: 'unknown_field' },
      { pointer: '/^a', code: 'unknown_field' },
    ]);
    const nested = {
      patternProperties: {
        '^[a-z]+$': { unevaluatedProperties: false, patternProperties: { '^(?:a|aa)+$': {} } },
      },
    };
    expect(validateValue(nested, { in: { aaa: 1 } })).toEqual([]);
    expect(validateValue(nested, { in: { aab: 1 } })).toHaveLength(1);
  });

  it('P14: thousands of members are distinguished by their names', () => {
    const names = Array.from(
      { length: 5_000 },
      (_, index) => [`the_name_of_the_member_with_the_number_${index}`, 1] as const,
    );
    const schema = { patternProperties: { '^(\\w+)+$': { type: 'number' } }, additionalProperties: false };
    expect(validateValue(schema, Object.fromEntries([...names, ['!', 1]]))).toMatchObject([
      { pointer: '/!' },
    ]);
    const mixed = Object.fromEntries([...names, ...names.map(([name]) => [`!${name}`, 1] as const)]);
    expect(validateValue(schema, mixed)).toMatchObject([
      { message: saying('cannot be checked: there are too many names for the pattern ^(\\w+)+$') },
    ]);
  });

  it('P14: data, and members that are only named like keywords, are not patterns', () => {
    expect(faultOf({ properties: { pattern: { type: 'string' }, $ref: {} } })).toBeUndefined();
    expect(faultOf({ const: { pattern: '(' }, default: { $ref: 'x' } })).toBeUndefined();
    expect(validateValue({ const: { pattern: 'a', $ref: 'b' } }, { pattern: 'a', $ref: 'b' })).toEqual([]);
    expect(faultOf({ properties: { default: { pattern: '(' } } })).toContain('/properties/default/pattern');
  });
});
