import { createHash } from 'node:crypto';
import { inEnglish } from '@millrace/messages/english';
import { runs } from '@millrace/testing/property-runs';
import { compareDecimals } from '@millrace/values/decimal';
import {
  addExact,
  divideExact,
  fromExact,
  multiplyExact,
  roundExact,
  subtractExact,
  toDecimal,
  toExact,
} from '@millrace/values/exact-number';
import { type JsonObject, type JsonValue, parseJson, stringifyJson } from '@millrace/values/json';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTemplate, parseTemplates } from '../src/template.ts';
import { RenderLimitError } from '../src/template-filter.ts';
import { FILTERS } from '../src/template-filters.ts';
import { render } from '../src/template-render.ts';
import { applyFilter as apply } from './support/filters.ts';

const LIMIT = 1_000_000;

function filtered(filters: string, v: JsonValue, maxBytes = LIMIT): JsonValue {
  const parsed = parseTemplate(`{{trigger.data.v | ${filters}}}`);
  if (!parsed.ok) throw new Error(inEnglish(parsed.error.message));
  const scope = { triggerData: { v }, executionId: 1, vars: {}, nodeOutput: () => null };
  return render(parsed.template, scope, maxBytes);
}

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof RenderLimitError) return error.code;
  }
  return 'none';
}

function faultOf(filters: string): string {
  const parsed = parseTemplate(`{{trigger.data.v | ${filters}}}`);
  return parsed.ok ? '' : `${parsed.error.code}: ${inEnglish(parsed.error.message)}`;
}

/** Any JSON, including numbers beyond doubles, members named like prototypes and strings with a meaning to filters. */
const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '',
    '12.50',
    '-0',
    '1e400',
    '2026-03-08T02:30:00+09:00',
    '2026-02-30',
    'Asia/Tokyo',
    'desc',
  ),
  fc.constantFrom('a.b', '0', '__proto__', 'constructor', 'sha1', '{"a":1}', '[[', 'WsO8cmljaA==', '\ud800'),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constantFrom<JsonValue>(null, true, false, 0, -0, 1e21, 5e-324, Number.MAX_VALUE, 1767225600000),
  fc
    .constantFrom(
      '9007199254740993',
      '1e400',
      '-1e-400',
      '1e999999',
      `0.${'1'.repeat(3000)}`,
      '1'.repeat(3000),
    )
    .map(parseJson),
);
const anyJson = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.constantFrom('a', 'b', '0', 'length', 'constructor', 'toJSON', ''), tie('value')),
  ),
})).value;

function freeze(value: JsonValue): JsonValue {
  if (typeof value === 'object' && value !== null) {
    for (const item of Object.values(value as JsonObject)) freeze(item);
    Object.freeze(value);
  }
  return value;
}

/** Filters that build strings and enforce the limit themselves. */
const BUILDERS = new Set(['replace', 'json', 'base64', 'url_encode', 'html_escape']);

describe('filters', () => {
  it('T8 T10: each is total, returns JSON, changes nothing and respects the limit', () => {
    const call = fc.record({
      name: fc.constantFrom(...FILTERS.keys()),
      value: anyJson.map(freeze),
      args: fc.array(anyJson.map(freeze), { maxLength: 2 }),
      max: fc.constantFrom(0, 10, 100, LIMIT),
    });
    fc.assert(
      fc.property(call, ({ name, value, args, max }) => {
        let result: JsonValue;
        try {
          result = apply(name, value, args, max);
        } catch (error) {
          expect(error).toBeInstanceOf(RenderLimitError);
          return;
        }
        if (BUILDERS.has(name)) expect((result as string).length).toBeLessThanOrEqual(max);
        const text = stringifyJson(result);
        expect(stringifyJson(parseJson(text))).toBe(text);
      }),
      { numRuns: runs(3_000) },
    );
  });

  it('T8: the same call gives the same result', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...FILTERS.keys()),
        anyJson,
        fc.array(anyJson, { maxLength: 2 }),
        (name, value, args) => {
          expect(stringifyJson(apply(name, value, args))).toBe(stringifyJson(apply(name, value, args)));
        },
      ),
      { numRuns: runs(1_000) },
    );
  });

  it.each([
    ['replace: "a", "bbbbbbbbbb"', 'a'.repeat(500)],
    ['base64', 'a'.repeat(900)],
    ['url_encode', ' '.repeat(500)],
    ['html_escape', '<'.repeat(300)],
    ['join: ", "', Array(600).fill('')],
    ['json', '"'.repeat(600)],
    ['date: trigger.data.v', 'y'.repeat(900)],
    ['upper', 'ß'.repeat(600)],
    ['split | json', 'a,'.repeat(400)],
  ])("T10: %s doesn't exceed the limit", (filters, value) => {
    const grow = (): JsonValue => filtered(filters, value, 1_000);
    if (filters.startsWith('date')) expect(grow()).toBeNull();
    else expect(grow).toThrow(RenderLimitError);
  });

  it.each([
    'sort',
    'sort: "k", "desc"',
    'unique',
    'where: "k", "v1"',
    'map: "k"',
    'reverse',
    'contains: "v1"',
    'sum: "k"',
    'json',
    'join',
  ])('T15: %s of 40,000 items is within the steps of one config, many of them are not', (filter) => {
    const items = Array.from({ length: 40_000 }, (_, index) => ({ k: `v${index}` }));
    expect(() => filtered(filter, items, 16_000_000)).not.toThrow();
    const parsed = parseTemplates(Array(40).fill(`{{trigger.data | ${filter}}}`));
    const scope = { triggerData: items, executionId: 1, vars: {}, nodeOutput: () => null };
    expect(codeOf(() => render(parsed.template, scope, 1e12))).toBe('template_too_expensive');
  });

  it('T15: a long part in a long text is found in linear time', () => {
    const part = `${'a'.repeat(250_000)}b${'a'.repeat(250_000)}`;
    const text = 'a'.repeat(1_000_000) + part;
    expect(apply('contains', text, [part], 2_000_000)).toBe(true);
    expect(apply('replace', text, [part, 'c'], 2_000_000)).toBe(`${'a'.repeat(1_000_000)}c`);
    expect(apply('split', text, [part], 2_000_000)).toEqual(['a'.repeat(1_000_000), '']);
  });

  it('T10: excessive growth is refused before it happens', () => {
    const text = 'a'.repeat(1_000_000);
    expect(() => apply('replace', text, ['a', text])).toThrow(RenderLimitError);
    let shared: JsonValue = 'x';
    for (let level = 0; level < 100; level++) shared = [shared, shared];
    const calls: [name: string, value: JsonValue, ...args: JsonValue[]][] = [
      ['unique', [shared]],
      ['where', [[shared]], '', shared],
      ['contains', [[shared]], shared],
      ['contains', 'text', shared],
      ['hash', shared],
      ['base64', shared],
      ['url_encode', shared],
      ['html_escape', shared],
      ['slice', { shared }, 0],
      ['replace', 'text', 'a', shared],
    ];
    for (const [name, value, ...args] of calls) {
      expect(() => apply(name, value, args), name).toThrow(RenderLimitError);
    }
  });

  it('T8: comparing with something large is linear', () => {
    const large = Array.from({ length: 20_000 }, (_, index) => ({ index }));
    const list = Array.from({ length: 20_000 }, (_, index) => [index]);
    expect(apply('contains', list, [large])).toBe(false);
    expect(apply('where', list, ['', large])).toEqual([]);
  });

  it('T5 T8: fields are own members only', () => {
    const items = parseJson('[{"a":1},{"__proto__":{"a":2}},[5],"text",null]');
    expect(apply('map', items, ['constructor'])).toEqual([null, null, null, null, null]);
    expect(apply('map', items, ['__proto__.a'])).toEqual([null, 2, null, null, null]);
    expect(apply('map', items, ['length'])).toEqual([null, null, null, null, null]);
    expect(apply('map', items, ['0'])).toEqual([null, null, 5, null, null]);
    expect(apply('contains', { a: 1 }, ['toString'])).toBe(false);
  });

  it('T8: equality is by value, not by notation', () => {
    const list = parseJson('[1, "1.0", {"a":1,"b":[2]}, 9007199254740993, true, null]') as JsonValue[];
    const equals = (value: string): boolean => apply('contains', list, [parseJson(value)]) as boolean;
    expect(['1.0', '"1"', '{"b":[2.0],"a":1}', '"9007199254740993"', 'true', 'null'].map(equals)).toEqual(
      Array(6).fill(true),
    );
    expect(['2', '"x"', '{"a":1}', '9007199254740992', '"true"', 'false', '[]'].map(equals)).toEqual(
      Array(7).fill(false),
    );
  });

  it('T8: sort is stable and defines an order for all values', () => {
    const items = parseJson('[null,{"k":1},"b",true,2,9007199254740993,"a",9007199254740992,false,[3],-1]');
    const ascending = apply('sort', items) as JsonValue[];
    expect(stringifyJson(ascending)).toBe(
      '[-1,2,9007199254740992,9007199254740993,"a","b",false,true,{"k":1},[3],null]',
    );
    fc.assert(
      fc.property(fc.array(anyJson, { maxLength: 20 }), (list) => {
        const sorted = apply('sort', list) as JsonValue[];
        expect(apply('sort', sorted)).toEqual(sorted);
        expect(sorted).toHaveLength(list.length);
      }),
      { numRuns: runs(500) },
    );
    const rows = [3, 1, 2, 1, 3].map((k, id) => ({ k, id }));
    const long = ['2e2000', '1e2000', '5', '-1e2000'].map(parseJson);
    expect(stringifyJson(apply('sort', long))).toBe('[-1e2000,5,1e2000,2e2000]');
    expect(apply('sort', rows, ['k', 'desc'])).toEqual([rows[0], rows[4], rows[2], rows[1], rows[3]]);
  });

  it('T8: text filters work on whole characters', () => {
    expect(filtered('slice: 1, 2', 'a😀b')).toBe('😀');
    expect(filtered('slice: 0, -1', 'a😀')).toBe('a');
    expect(filtered('reverse', 'a😀')).toBe('😀a');
    expect(filtered('slice: -2', [1, 2, 3])).toEqual([2, 3]);
    expect(filtered('replace: "", "x"', 'ab')).toBe('ab');
    expect(filtered('replace: "$&", "$1"', 'a$&b')).toBe('a$1b');
  });

  it('T8: hashes, Base64 and URL encoding are those of the standards', () => {
    const text = fc.string({
      unit: fc.oneof(fc.constantFrom('é', '😀', ' ', '%', '+'), fc.string({ maxLength: 1 })),
    });
    fc.assert(
      fc.property(text, (value) => {
        for (const algorithm of ['sha256', 'sha512', 'sha1', 'md5']) {
          expect(apply('hash', value, [algorithm])).toBe(createHash(algorithm).update(value).digest('hex'));
        }
        expect(apply('base64', value)).toBe(Buffer.from(value).toString('base64'));
        expect(apply('base64_decode', Buffer.from(value).toString('base64url'))).toBe(value);
        expect(decodeURIComponent(apply('url_encode', value) as string)).toBe(value);
        expect(apply('url_encode', value)).toMatch(/^(?:[A-Za-z0-9._~-]|%[0-9A-F]{2})*$/);
      }),
    );
    const long = `${'x'.repeat(16_383)}😀${'é'.repeat(40_000)}`;
    expect(decodeURIComponent(apply('url_encode', long) as string)).toBe(long);
    expect(apply('url_encode', '\ud800')).toBe('%EF%BF%BD');
    expect(apply('base64_decode', 'gA==')).toBeNull();
    expect(apply('base64_decode', 'A')).toBeNull();
    expect(apply('hash', 'x', ['sha999'])).toBeNull();
  });

  it('T8: escaped text is no markup, and reads as before', () => {
    const signs = fc.string({
      unit: fc.oneof(fc.constantFrom('&', '<', '>', '"', "'", ';', '😀'), fc.string({ maxLength: 1 })),
    });
    const characters: { readonly [reference: string]: string } = {
      amp: '&',
      lt: '<',
      gt: '>',
      '#34': '"',
      '#39': "'",
    };
    fc.assert(
      fc.property(signs, (value) => {
        const escaped = apply('html_escape', value) as string;
        expect(escaped).toMatch(/^(?:[^&<>"']|&(?:amp|lt|gt|#34|#39);)*$/);
        expect(escaped.replace(/&(#?\w+);/g, (_, reference: string) => characters[reference] ?? '')).toBe(
          value,
        );
      }),
    );
    const long = `${'x'.repeat(16_383)}😀${'<'.repeat(40_000)}`;
    expect(apply('html_escape', long)).toBe(long.replaceAll('<', '&lt;'));
    expect([7, null, ['<']].map((value) => apply('html_escape', value))).toEqual([
      '7',
      '',
      '[&#34;&lt;&#34;]',
    ]);
  });

  it('T8: parse_json keeps numbers and refuses what is too deep', () => {
    expect(stringifyJson(filtered('parse_json', '[1e400,9007199254740993]'))).toBe(
      '[1e400,9007199254740993]',
    );
    expect(filtered('parse_json', '['.repeat(1001) + ']'.repeat(1001))).toBeNull();
    expect(filtered('parse_json', '{"__proto__":1}')).toEqual(JSON.parse('{"__proto__":1}'));
    expect(filtered('parse_json', '')).toBeNull();
  });

  it.each([
    [
      'date: "yyyy", "Asia/Tokio"',
      /template_syntax: the zone of the filter "date" is the name of a time zone/,
    ],
    ['date: "yyyy", 9', /time zone/],
    ['hash: "crc32"', /sha256, sha512, sha1, md5/],
    ['sort: "a", "descending"', /"asc" or "desc"/],
    ['map', /takes one argument/],
    ['replace: "a"', /takes two arguments/],
    ['where: "a", 1, 2', /one or two arguments/],
  ])('T14: %s is reported when it is parsed', (filters, message) => {
    expect(faultOf(filters)).toMatch(message);
  });

  it('T14: arguments that are paths are checked when their values are known', () => {
    expect(faultOf('date: "yyyy", vars.zone')).toBe('');
    expect(filtered('date: "yyyy", vars.zone', 0)).toBeNull();
  });
});

describe('exact numbers', () => {
  /** A decimal as JSON text, and the same value as a fraction of integers. */
  const decimal = fc
    .tuple(fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }), fc.integer({ min: 0, max: 12 }))
    .map(([units, scale]) => ({ units, scale }));
  const text = (value: { units: bigint; scale: number }): string => {
    const digits = String(value.units < 0n ? -value.units : value.units).padStart(value.scale + 1, '0');
    const point = digits.length - value.scale;
    return `${value.units < 0n ? '-' : ''}${digits.slice(0, point)}${value.scale === 0 ? '' : `.${digits.slice(point)}`}`;
  };
  const exact = (value: JsonValue) => toExact(value) ?? fail(value);
  const fail = (value: JsonValue): never => {
    throw new Error(`no number: ${stringifyJson(value)}`);
  };

  it('T12: sums, differences and products are those of whole numbers', () => {
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        const [left, right] = [exact(text(a)), exact(text(b))];
        const [x, y] = [a.units * 10n ** BigInt(12 - a.scale), b.units * 10n ** BigInt(12 - b.scale)];
        const whole = (value: ReturnType<typeof addExact>, scale: number): bigint =>
          value.units * 10n ** BigInt(scale - value.scale);
        expect(whole(addExact(left, right), 12)).toBe(x + y);
        expect(whole(subtractExact(left, right), 12)).toBe(x - y);
        expect(whole(multiplyExact(left, right), 24)).toBe(x * y);
        const [c, d] = [toDecimal(text(a)) ?? fail(text(a)), toDecimal(text(b)) ?? fail(text(b))];
        expect(Math.sign(compareDecimals(c, d))).toBe(x < y ? -1 : x > y ? 1 : 0);
        const quotient = divideExact(left, right);
        expect(quotient === null).toBe(y === 0n);
        if (quotient === null) return;
        // Exact, or off by at most half a unit of the fifteenth digit.
        const { units, scale } = quotient;
        const error = units * y - x * 10n ** BigInt(scale);
        const abs = (value: bigint): bigint => (value < 0n ? -value : value);
        expect(abs(error) === 0n || abs(error) * 10n ** 14n <= abs(units * y)).toBe(true);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('T12: numbers come back unchanged', () => {
    fc.assert(
      fc.property(fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer()), (value) => {
        expect(fromExact(exact(value))).toBe(Object.is(value, -0) ? 0 : value);
      }),
    );
    expect(stringifyJson(fromExact(exact(parseJson('1e400'))))).toBe(`1${'0'.repeat(400)}`);
    expect(toExact(parseJson('1e9999'))).toBeNull();
    expect(toExact(`0.${'1'.repeat(2_000)}`)).toBeNull();
    expect(toExact('1'.repeat(5_000))).toBeNull();
    for (const value of [null, true, '', 'x', ' ', '0x1', '1,5', [], {}]) expect(toExact(value)).toBeNull();
  });

  it('T12: rounding is half away from zero', () => {
    const rounded = (value: string, places: number): JsonValue => fromExact(roundExact(exact(value), places));
    expect(['0.5', '1.5', '-0.5', '2.4999', '-2.5'].map((value) => rounded(value, 0))).toEqual([
      1, 2, -1, 2, -3,
    ]);
    expect(rounded('1.005', 2)).toBe(1.01);
    expect(rounded('-1.005', 2)).toBe(-1.01);
    expect(stringifyJson(filtered('round: 2', parseJson('12345678901234567890.125')))).toBe(
      '12345678901234567890.13',
    );
    expect(filtered('round', 1e300)).toBe(1e300);
    expect(filtered('round: 2', 5e-324)).toBe(0);
    expect(filtered('round: 2', parseJson('1e-5000'))).toBe(0);
  });

  it('T12: quotients', () => {
    expect(filtered('divided_by: 3', 1)).toBe(0.333333333333333);
    expect(filtered('divided_by: 3', 2)).toBe(0.666666666666667);
    expect(filtered('divided_by: 7', 22_000_000)).toBe(3142857.14285714);
    expect(filtered('divided_by: 1024', 1)).toBe(0.0009765625);
    expect(filtered('divided_by: 3', 0.0001)).toBe(0.0000333333333333333);
    expect(stringifyJson(filtered('divided_by: 10', parseJson('90071992547409930')))).toBe(
      '9007199254740993',
    );
  });
});
