import { runs } from '@millrace/testing/property-runs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRawNumber, type JsonValue, parseJson, stringifyJson } from '../src/json.ts';
import { jsonBytes, measureWork } from '../src/json-size.ts';
import { parseWork, stringifyWork } from '../src/json-work.ts';
import { finishWork, Meter } from '../src/work.ts';

const PIECE = 8;

/** What parsing comes to: a value, or that the text isn't JSON. */
function outcomeOf(parse: () => JsonValue): { readonly text: string } | 'not JSON' {
  try {
    return { text: stringifyJson(parse()) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return 'not JSON';
  }
}

const inPieces = (text: string): JsonValue => finishWork(parseWork(text, new Meter(), PIECE));

describe('parsing in pieces', () => {
  it.each([
    '[1,2,3,4,5,6,7,8,9]',
    ' [ "a, b" , { "c" : [ 1 , 2 , 3 , 4 , 5 ] , "d" : "e\\"]" } , [ ] , { } ] ',
    '{"a":[[1,2,3,4,5],[6,7,8,9,10]],"b":{"c":{"d":"eeeeeeee","f":1},"g":2},"h":3}',
    '{"a":1234567,"b":2345678,"a":3456789,"a":[1,2,3,4,5,6]}',
    '{"__proto__":[1,2,3,4,5,6,7],"x":12345678,"__proto__":{"y":1234567,"z":1}}',
    '{"2":"bbbbbbbb","1":"aaaaaaaa","1":"cccccccc"}',
    '[1e400,12345678901234567890,[0.10000000000000000001,1,2,3,4]]',
    '"a text that is longer than a piece"',
    '[["a text that is longer than a piece"]]',
    '1234567890123',
  ])('comes to what parsing at once does: %s', (text) => {
    const expected = outcomeOf(() => parseJson(text));
    expect(expected).not.toBe('not JSON');
    expect(outcomeOf(() => inPieces(text))).toEqual(expected);
  });

  it.each([
    '[1,2,3,4,5,6,7,8,9',
    '[1,2,3,4,5,6,7,8,9}',
    '[1,2,3,4,5,6,7,8,9,]',
    '[1,2,3,4,5,,6,7,8,9]',
    ',[1,2,3,4,5,6,7,8,9]',
    '[1,2,3,4,5,6,7,8,9] 1',
    '[1,2,3,4,5,6,7,8,9][1,2,3,4,5,6]',
    '1 [1,2,3,4,5,6,7,8,9]',
    '[1,2,3,4,5],[6,7,8,9]',
    '[[1,2,3,4,5,6,7][1,2,3,4,5,6,7]]',
    '[[1,2,3,4,5,6,7] 8,9]',
    '[8 [1,2,3,4,5,6,7]]',
    '[1,[1,2,3,4,5,6,7],]',
    '{"a":1[1,2,3,4,5,6,7]}',
    '{"a"[1,2,3,4,5,6,7]}',
    '{[1,2,3,4,5,6,7]}',
    '{"a":[1,2,3,4,5,6,7],}',
    '{"a":[1,2,3,4,5,6,7]"b":1}',
    '{"a":"b":[1,2,3,4,5,6,7]}',
    '[1,2,3,4,5,6,7,8,"9]',
    '[1,2,3,4,5,\u00a06,7,8,9]',
    '[\u00a0[1,2,3,4,5,6,7,8,9]]',
    'not JSON at all',
    ']]]]]]]]]]',
  ])('refuses what parsing at once does: %s', (text) => {
    expect(outcomeOf(() => parseJson(text))).toBe('not JSON');
    expect(outcomeOf(() => inPieces(text))).toBe('not JSON');
  });

  it.each([
    ['1,2', false],
    ['1e400,2', true],
  ])('of deep lists with %s decides as parsing at once does', (items, isRefused) => {
    const text = `${'['.repeat(3_000)}${items}${']'.repeat(3_000)}`;
    const expected = outcomeOf(() => parseJson(text));
    expect(expected === 'not JSON').toBe(isRefused);
    expect(outcomeOf(() => inPieces(text))).toEqual(expected);
  });

  it('comes to the same for any JSON, and for any text that is nearly JSON', () => {
    const space = fc.constantFrom('', ' ', '\n', '  ');
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 6 }),
        space,
        fc.nat(),
        fc.constantFrom('', ',', ']', '{', '"', '1'),
        (json, gap, at, odd) => {
          const spaced = `${gap}${json.replaceAll(',', `,${gap}`)}${gap}`;
          expect(outcomeOf(() => inPieces(spaced))).toEqual(outcomeOf(() => parseJson(spaced)));
          const place = at % (spaced.length + 1);
          const changed = `${spaced.slice(0, place)}${odd}${spaced.slice(place)}`;
          expect(outcomeOf(() => inPieces(changed))).toEqual(outcomeOf(() => parseJson(changed)));
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it('keeps numbers that a double would change', () => {
    const [first] = inPieces('[1e400,1,2,3,4,5]') as readonly JsonValue[];
    expect(isRawNumber(first)).toBe(true);
  });

  it('yields between pieces', () => {
    const text = stringifyJson(Array.from({ length: 100_000 }, (_, n) => ({ n })));
    expect(yields(parseWork(text, new Meter()))).toBeGreaterThan(0);
  });
});

describe('writing in pieces', () => {
  it('comes to what writing at once does', () => {
    const many = fc.array(fc.jsonValue({ maxDepth: 4 }), { minLength: 0, maxLength: 20 });
    fc.assert(
      fc.property(many, fc.constantFrom(1, 400), (items, times) => {
        const value = Array.from({ length: times }, () => items) as JsonValue;
        for (const each of [value, { value, items: value } as JsonValue]) {
          expect(finishWork(stringifyWork(each, new Meter()))).toBe(stringifyJson(each));
        }
      }),
      { numRuns: runs(100) },
    );
  });

  it('keeps numbers that a double would change, and strange names', () => {
    const value = parseJson(`{"__proto__":[${'1e400,'.repeat(2_000)}1],"":{"2":[${'[],'.repeat(2_000)}{}]}}`);
    expect(finishWork(stringifyWork(value, new Meter()))).toBe(stringifyJson(value));
  });

  it('leaves out members that are undefined, as writing at once does', () => {
    const value = { a: undefined, rows: Array.from({ length: 2_000 }, () => ({ b: undefined, c: 1 })) };
    const given = value as unknown as JsonValue;
    expect(finishWork(stringifyWork(given, new Meter()))).toBe(stringifyJson(given));
  });

  it('yields between pieces', () => {
    const value = [{ rows: Array.from({ length: 100_000 }, (_, n) => ({ n })) }];
    expect(yields(stringifyWork(value, new Meter()))).toBeGreaterThan(10);
  });
});

describe('measuring in pieces', () => {
  const rows = (): JsonValue => ({
    rows: Array.from({ length: 20_000 }, (_, n) => ({ n, text: 'ä"\n'.repeat(5) })),
  });

  it('yields, and what asks later gets the same number', () => {
    const value = rows();
    const bytes = new TextEncoder().encode(stringifyJson(value)).length;
    expect(yields(measureWork(value, bytes, new Meter()))).toBeGreaterThan(10);
    expect(jsonBytes(value, bytes)).toBe(bytes);
    expect(jsonBytes(value, bytes - 1)).toBe('too_large');
  });

  it('stops at the limit', () => {
    const value = rows();
    const [all, part] = [rows(), value].map((each, index) => {
      return yields(measureWork(each, index === 0 ? Number.POSITIVE_INFINITY : 1_000, new Meter()));
    });
    expect(part).toBeLessThan((all ?? 0) / 10);
    expect(jsonBytes(value, 1_000)).toBe('too_large');
  });
});

function yields(work: Generator<number>): number {
  return [...work].length;
}
