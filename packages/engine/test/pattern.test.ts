import { describe, expect, it } from 'vitest';
import { findSchemaFaults, type JsonValue, validateValue } from '../src/index.ts';
import { findPatternFault } from '../src/pattern.ts';

function faultOf(schema: JsonValue): string | undefined {
  const [fault] = findSchemaFaults(schema);
  return fault && `${fault.pointer} ${fault.message}`;
}

describe('patterns in the schemas of users', () => {
  it.each([
    '^[A-Z]{3}-\\d+$',
    '^[^@]+@[^@]+\\.[^@]+$',
    '^\\+?\\d{1,3}(-\\d{3}){2}$',
    '^(?:red|green)?$',
    '^(?:25[0-5]|2[0-4]\\d)(?:\\.(?:25[0-5]|2[0-4]\\d)){3}$',
    '[(+*|]',
    '\\(a\\)+',
    '^(?:red|green|blue|black|white)$',
    '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(?::\\d\\d)?(?:Z|[+-]\\d\\d:?\\d\\d)$',
    '^(?<year>\\d{4})$',
  ])('P14: %s can be used', (pattern) => {
    expect(findPatternFault(pattern)).toBeNull();
  });

  it.each([
    '(a+)+$',
    '(?:a*)*',
    '((a+)b?)*',
    '(a|a)*$',
    '(?:a|b|ab){2,}',
    '([a-z]+\\d?)+$',
    '(',
    'x'.repeat(501),
  ])('P14: %s is refused', (pattern) => {
    expect(findPatternFault(pattern)).not.toBeNull();
    expect(faultOf({ properties: { a: { pattern } } })).toContain('/properties/a/pattern');
  });

  it('P14: a text that could take too long does not match', () => {
    const schema = { pattern: '^\\s*\\s*\\s*\\s*x$' };
    expect(validateValue(schema, `${' '.repeat(10)}x`)).toEqual([]);
    expect(validateValue(schema, ' '.repeat(100_000))).toHaveLength(1);
    expect(validateValue({ pattern: '^a+$' }, 'a'.repeat(1_000_000))).toEqual([]);
    // A schema that was stored before the rule is bounded all the same.
    expect(validateValue({ pattern: '(a+)+$' }, 'a'.repeat(50))).toHaveLength(1);
  });

  it('P14: patterns for names of members must be simple', () => {
    expect(faultOf({ patternProperties: { '^x-[a-z]+$': {} } })).toBeUndefined();
    expect(faultOf({ patternProperties: { 'a+$': {} } })).toMatch(/too slow/);
    expect(faultOf({ patternProperties: { '(a+)+': {} } })).toMatch(/repeats a group/);
  });

  it('P14: members that are only named like keywords, and data, are no patterns', () => {
    expect(faultOf({ properties: { pattern: { type: 'string' }, $ref: {} } })).toBeUndefined();
    expect(faultOf({ const: { pattern: '(' }, default: { $ref: 'x' } })).toBeUndefined();
    expect(validateValue({ const: { pattern: 'a', $ref: 'b' } }, { pattern: 'a', $ref: 'b' })).toEqual([]);
    expect(faultOf({ properties: { default: { pattern: '(' } } })).toContain('/properties/default/pattern');
  });
});
