import { finishWork, type JsonValue } from '@millrace/engine';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { parseYaml, YamlError } from './yaml.ts';

function read(text: string, maxDepth = 100): JsonValue {
  return finishWork(parseYaml(text, maxDepth));
}

function faultOf(text: string, maxDepth = 100): YamlError {
  try {
    read(text, maxDepth);
  } catch (error) {
    if (error instanceof YamlError) return error;
    throw error;
  }
  throw new Error('it was read');
}

describe('parseYaml', () => {
  test.each([
    ['a: 1\nb:\n- x\n- y: null\n  z: ~', { a: 1, b: ['x', { y: null, z: null }] }],
    ['a: |-\n  one\n  two\nb: >\n  three\n  four\n', { a: 'one\ntwo', b: 'three four\n' }],
    ["a: 'it''s'\nb: \"\\u0041\\n\"", { a: "it's", b: 'A\n' }],
    ['{a: [1, 2], b: {}, c}', { a: [1, 2], b: {}, c: null }],
    ['- &x {a: 1}\n- *x', [{ a: 1 }, { a: 1 }]],
    ['a: 12345678901234567890', { a: '12345678901234567890' }],
    [
      'a: yes\nb: true\nc: 0x1f\nd: 1.5e3\ne: 2026-01-01',
      { a: 'yes', b: true, c: 31, d: 1500, e: '2026-01-01' },
    ],
    ['# nothing', null],
    ['', null],
  ])('reads %j', (text, value) => {
    expect(read(text)).toEqual(value);
  });

  test('reads what the library writes, as the library does', () => {
    const json = fc.jsonValue({ depthSize: 'small', maxDepth: 5 });
    fc.assert(
      fc.property(json, (value) => {
        const text = stringify(value);
        expect(read(text)).toEqual(JSON.parse(JSON.stringify(parse(text))));
      }),
    );
  });

  test('a name that could change a prototype is an ordinary one', () => {
    const value = read('__proto__: {polluted: true}') as object;
    expect(Object.hasOwn(value, '__proto__')).toBe(true);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  test.each([
    ['a: 1\na: 2', 2],
    ['a: 1\nb: "x', 2],
    ['a: 1\nb: *c', 2],
    ['a: [1, 2', 1],
  ])('says on which line %j is broken', (text, line) => {
    expect(faultOf(text).line).toBe(line);
  });

  test.each([
    ['['.repeat(100_000)],
    ['- '.repeat(200)],
    [Array.from({ length: 200 }, (_, at) => `${' '.repeat(at)}a:`).join('\n')],
  ])('refuses what is nested too deeply', (text) => {
    expect(faultOf(text).isTooDeep).toBe(true);
  });

  test('aliases of aliases can stand for only so much', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let at = 1; at < 10; at += 1)
      lines.push(
        `a${at}: &a${at} [${Array(10)
          .fill(`*a${at - 1}`)
          .join(', ')}]`,
      );
    expect(faultOf(lines.join('\n')).message).toBe('too many aliases');
  });
});
