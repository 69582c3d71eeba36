import { runs } from '@millrace/testing/property-runs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalJson,
  findUnsupportedCharacters,
  isJsonObject,
  isRawNumber,
  type JsonValue,
  joinPointer,
  parseJson,
  pointerToField,
  setOwn,
  stringifyJson,
} from '../src/json.ts';
import { jsonDepthExceeds } from '../src/json-depth.ts';
import { findJsonMistake } from '../src/json-mistake.ts';
import { checkJsonSize } from '../src/json-size.ts';

/** JSON texts with numbers of every kind, not only those a double can represent. */
const numberText = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9]\d{0,24}$/)),
    fc.option(fc.stringMatching(/^\d{1,24}$/)),
    fc.option(fc.stringMatching(/^[eE][+-]?\d{1,4}$/)),
  )
  .map(
    ([sign, whole, fraction, power]) =>
      `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${power ?? ''}`,
  );
const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    numberText,
    fc.constantFrom('null', 'true', 'false'),
    fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .uniqueArray(
        fc.tuple(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', '1')), tie('value')),
        {
          maxLength: 4,
          selector: ([name]) => name,
        },
      )
      .map((members) => `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`),
  ),
})).value;

/** The same by way of the language, number by number. */
function parseByReviver(text: string): JsonValue {
  return JSON.parse(text, (_name, value, { source = '' }) =>
    typeof value === 'number' && canonicalJson(JSON.rawJSON(source)) !== canonicalJson(value)
      ? JSON.rawJSON(source)
      : value,
  );
}

describe('JSON without loss', () => {
  it('N1: any text is parsed as number by number, wherever its raw numbers and its strings are', () => {
    const spaces = fc.constantFrom('', ' ', '\n\t', '  ');
    const strings = fc.constantFrom(
      '"raw0:0"',
      '"\\u0072aw1:0"',
      '"r\\u0061w\\u0032:"',
      '", 1e400"',
      '"\\\\"',
      '"\\", [1e999"',
    );
    const list = fc.array(fc.tuple(fc.oneof(jsonText, strings), spaces, spaces), {
      minLength: 1,
      maxLength: 5,
    });
    fc.assert(
      fc.property(list, (items) => {
        const text = `[${items.map(([item, before, after]) => `${before}${item}${after}`).join(',')}, 1e400]`;
        const [read, expected] = [parseJson(text), parseByReviver(text)];
        expect(stringifyJson(read)).toBe(stringifyJson(expected));
        expect(canonicalJson(read)).toBe(canonicalJson(expected));
      }),
    );
  });

  it.each([
    '[1e400',
    '{1e400:2}',
    '{1e400 : 2}',
    '[01e400]',
    '[1e400x]',
    '[1e400 2]',
    '[1.e400]',
    '[-1e+]',
    '["a" 1e400]',
    '["unended, 1e400]',
    '1e400,',
  ])('N1: %s is still a mistake', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
    let expected: unknown;
    try {
      JSON.parse(text);
    } catch (error) {
      expected = error;
    }
    expect(() => parseJson(text)).toThrow((expected as Error).message);
  });

  it.each([
    '9007199254740993',
    '-9007199254740993',
    '1e400',
    '-1E+400',
    '0.10000000000000000001',
    '1e-400',
    '123456789012345678901234567890.5',
  ])('N1: %s is kept as written', (text) => {
    for (const [before, after] of [
      ['', ''],
      ['[', ']'],
      ['{"a":', '}'],
      ['{"a": [1,\n', ' ]}'],
    ]) {
      const whole = `${before}${text}${after}`;
      expect(stringifyJson(parseJson(whole))).toBe(whole.replaceAll(/\s/g, ''));
    }
    expect(isRawNumber(parseJson(text))).toBe(true);
  });

  it.each([
    '9007199254740992',
    '1.5',
    '0.1',
    '1e3',
    '100000000000000000000',
    '-0.0',
    '0e999',
    '2.50',
    '1e21',
    '5e-324',
  ])('N1: %s is an ordinary number', (text) => {
    expect(parseJson(text)).toBe(Number(text) === 0 ? Number(text) : Number(text));
    expect(parseJson(`[${text}]`)).toEqual([Number(text)]);
  });

  it('N1: digits and exponents inside strings are not numbers', () => {
    const text = '{"id":"9007199254740993","uuid":"4e5b, 1e400, 12345678901234567890"}';
    expect(stringifyJson(parseJson(text))).toBe(text);
  });

  it('N1: writing and parsing again changes nothing, whatever the numbers', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const value = parseJson(text);
        const written = stringifyJson(value);
        expect(stringifyJson(parseJson(written))).toBe(written);
        expect(canonicalJson(parseJson(written))).toBe(canonicalJson(value));
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('N1: no number changes its decimal value', () => {
    fc.assert(
      fc.property(numberText, (text) => {
        expect(decimalOf(stringifyJson(parseJson(text)))).toEqual(decimalOf(text));
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('N1: deep nesting beside an exact number is refused without crashing', () => {
    const deep = `${'['.repeat(200_000)}9007199254740993${']'.repeat(200_000)}`;
    expect(() => parseJson(deep)).toThrow(SyntaxError);
  });

  it("N2: number notation, order and white space don't matter", () => {
    const same = ['{"a":1,"b":[1.0,10]}', '{ "b" : [1e0, 1e1], "a" : 1.00 }', '{"b":[0.1e1,10.0],"a":10e-1}'];
    expect(new Set(same.map((text) => canonicalJson(parseJson(text)))).size).toBe(1);
    expect(canonicalJson(parseJson('-0'))).toBe(canonicalJson(parseJson('0')));
    expect(canonicalJson(parseJson('1e400'))).toBe(canonicalJson(parseJson('10.0e399')));
    expect(canonicalJson(parseJson('9007199254740993'))).toBe(canonicalJson(parseJson('9007199254740993.0')));
  });

  it("N2: numbers that differ stay different, even beyond a double's precision", () => {
    const texts = [
      '9007199254740992',
      '9007199254740993',
      '1e400',
      '1e401',
      '-1e400',
      '0.1',
      '0.10000000000000000001',
    ];
    expect(new Set(texts.map((text) => canonicalJson(parseJson(text)))).size).toBe(texts.length);
    expect(canonicalJson('1')).not.toBe(canonicalJson(1));
  });

  it('N2: member names are sorted by code unit', () => {
    expect(canonicalJson({ b: 1, a: 2, B: 3, ä: 4, '10': 5, '9': 6 })).toBe(
      '{"10":5,"9":6,"B":3,"a":2,"b":1,"ä":4}',
    );
  });

  it('N2: two texts have the same canonical form exactly if they mean the same', () => {
    fc.assert(
      fc.property(numberText, numberText, (one, other) => {
        const isSame = JSON.stringify(decimalOf(one)) === JSON.stringify(decimalOf(other));
        expect(canonicalJson(parseJson(one)) === canonicalJson(parseJson(other))).toBe(isSame);
      }),
    );
  });

  it('N3: depth is counted outside strings only', () => {
    expect(jsonDepthExceeds('[[[1]]]', 3)).toBe(false);
    expect(jsonDepthExceeds('[[[1]]]', 2)).toBe(true);
    expect(jsonDepthExceeds('["[[[[", "\\"[[[["]', 1)).toBe(false);
    expect(jsonDepthExceeds('[[],[],[[]]]', 3)).toBe(false);
    expect(jsonDepthExceeds('{"a":{"b":[]}}', 2)).toBe(true);
    expect(jsonDepthExceeds('"unterminated [[[', 1)).toBe(false);
  });

  it('N3: nesting of 200,000 is measured without recursion', () => {
    expect(jsonDepthExceeds('['.repeat(200_000), 100)).toBe(true);
    expect(jsonDepthExceeds(`${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`, 100)).toBe(true);
    expect(jsonDepthExceeds('['.repeat(200_000), 200_000)).toBe(false);
  });

  it('N4: U+0000 and lone surrogates are found with a pointer', () => {
    expect(findUnsupportedCharacters({ a: ['x', { 'b/c': '\u0000' }] })).toBe('/a/1/b~1c');
    expect(findUnsupportedCharacters(['\ud800'])).toBe('/0');
    expect(findUnsupportedCharacters('\udc00x')).toBe('');
    expect(findUnsupportedCharacters({ ok: { 'n\u0000': 1 } })).toBe('/ok/n\ufffd');
    expect(
      findUnsupportedCharacters({ ok: '😀 \u0001 ä', n: [1, null, true, parseJson('1e400')] }),
    ).toBeNull();
  });

  it('N5: __proto__ is a member like any other', () => {
    for (const text of ['{"__proto__":{"x":1}}', '{"__proto__":{"x":9007199254740993}}']) {
      const value = parseJson(text);
      expect(stringifyJson(value)).toBe(text);
      expect(Object.keys(value as object)).toEqual(['__proto__']);
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    }
    const made: { [name: string]: JsonValue } = {};
    setOwn(made, '__proto__', { x: 1 });
    setOwn(made, 'y', 2);
    expect(stringifyJson(made)).toBe('{"__proto__":{"x":1},"y":2}');
  });

  it('N5: if a member name occurs twice, the last one wins', () => {
    expect(parseJson('{"a":1,"a":2}')).toEqual({ a: 2 });
    expect(stringifyJson(parseJson('{"a":1,"a":9007199254740993}'))).toBe('{"a":9007199254740993}');
  });

  it('N6: the size limit is exact to the byte', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const value = parseJson(text);
        const bytes = new TextEncoder().encode(stringifyJson(value)).length;
        expect(checkJsonSize(value, bytes)).toBe('fits');
        expect(checkJsonSize(value, bytes - 1)).toBe('too_large');
      }),
      { numRuns: runs(1_000) },
    );
  });

  it('N6: a value that contains one part repeatedly costs no more than the limit', () => {
    let value: JsonValue = 'x';
    for (let level = 0; level < 200; level++) value = [value, value];
    expect(checkJsonSize(value, 1_000_000)).toBe('too_large');
    let deep: JsonValue = 1;
    for (let level = 0; level < 5_000; level++) deep = [deep];
    expect(checkJsonSize(deep, 1_000_000)).toBe('too_deep');
  });

  it('N4: pointers are escaped, and shown with dots', () => {
    expect(joinPointer('/a', 'b/c~d', 0)).toBe('/a/b~1c~0d/0');
    expect(pointerToField('/a/b~1c~0d/0')).toBe('a.b/c~d.0');
    expect(pointerToField('')).toBe('');
  });

  it('N1: a raw number is neither object nor list', () => {
    expect(isJsonObject(parseJson('1e400'))).toBe(false);
    expect(isJsonObject(parseJson('{}'))).toBe(true);
    expect(isJsonObject([])).toBe(false);
    expect(isJsonObject(null)).toBe(false);
  });
});

/** Sign, digits without zeros at either end, power of ten; computed differently from the engine. */
function decimalOf(text: string): readonly unknown[] {
  const negative = text.startsWith('-');
  const [mantissa = '', power = '0'] = text
    .replace(/^-/, '')
    .toLowerCase()
    .replace(/^([^e]*)e/, '$1 ')
    .split(' ');
  const point = mantissa.includes('.') ? mantissa.length - mantissa.indexOf('.') - 1 : 0;
  let digits = BigInt(mantissa.replace('.', ''));
  let exponent = Number(power) - point;
  if (digits === 0n) return [false, '0', 0];
  while (digits % 10n === 0n) {
    digits /= 10n;
    exponent += 1;
  }
  return [negative, String(digits), exponent === 0 ? 0 : exponent];
}

describe('where a text stops being valid JSON', () => {
  it("a text that can't be parsed has a mistake, with none before it; any other text has none", () => {
    const broken = fc
      .tuple(
        fc.json(),
        fc.nat(),
        fc.nat({ max: 2 }),
        fc.constantFrom('', ...'{}[]",:\\x01.-+eE\n\t/\'\u00a0'),
      )
      .map(([json, place, removed, put]) => {
        const at = place % (json.length + 1);
        return json.slice(0, at) + put + json.slice(at + removed);
      });
    const property = fc.property(broken, (text) => {
      const at = findJsonMistake(text);
      expect(findJsonMistake(text.slice(0, at))).toBe(at);
      let isJson = true;
      try {
        JSON.parse(text);
      } catch {
        isJson = false;
      }
      if (isJson) expect(at).toBe(text.length);
    });
    fc.assert(property, { numRuns: runs(2_000) });
  });

  it.each([
    ['{"a":1 // why\n}', 7],
    ['{"a":1,}', 7],
    ['["a\nb"]', 3],
    ['["a\\x"]', 3],
    ['["\\u12x4"]', 2],
    ['["a', 3],
    ['"a" "b"', 4],
    ["{'a': 1}", 1],
    ['[01]', 2],
    ['[1.]', 1],
    ['', 0],
    ['['.repeat(100_000), 0],
  ])('in %.20s', (text, at) => {
    expect(findJsonMistake(text)).toBe(at);
  });
});
