import { isRawNumber, type JsonValue, parseJson, stringifyJson } from '@millrace/engine';
import { runs } from '@millrace/testing/property-runs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createQueryClient } from './query.ts';
import { shareExactly } from './share-exactly.ts';

/** JSON with occasional numbers beyond double precision. */
const { json } = fc.letrec<{ json: string; list: string; object: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(
      '9007199254740993',
      '9007199254740995',
      '1e400',
      '0.1234567890123456789',
      '1',
      'null',
      '"a"',
    ),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('json'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
  object: fc
    .uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'rawJSON', '__proto__'), tie('json')), {
      selector: ([name]) => name,
    })
    .map((members) => `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`),
}));

describe('shareExactly', () => {
  test('returns what was read, or the previous value if that is the same', () => {
    fc.assert(
      fc.property(json, json, (before, text) => {
        const former = parseJson(before);
        const shared = shareExactly(former, parseJson(text)) as JsonValue;
        expect(stringifyJson(shared)).toBe(stringifyJson(parseJson(text)));
        if (before === text) expect(Object.is(shared, former) || isRawNumber(shared)).toBe(true);
        expect(shareExactly(shared, parseJson(text))).toBe(shared);
      }),
      { numRuns: runs(1_000) },
    );
  });

  test('unchanged parts keep their identity', () => {
    const former = parseJson('{"a":{"id":9007199254740993},"b":1}') as { a: JsonValue };
    const shared = shareExactly(former, parseJson('{"a":{"id":9007199254740993},"b":2}')) as { a: JsonValue };
    expect(shared.a).toBe(former.a);
    expect(shareExactly(undefined, null)).toBeNull();
  });
});

describe('the query client', () => {
  test('keeps a number beyond a double when it is read again', () => {
    fc.assert(
      fc.property(json, json, (before, text) => {
        const client = createQueryClient(() => undefined);
        client.setQueryData(['value'], parseJson(before));
        client.setQueryData(['value'], { value: parseJson(text) });
        client.setQueryData(['value'], { value: parseJson(text) });
        expect(JSON.stringify(client.getQueryData(['value']))).toBe(
          `{"value":${stringifyJson(parseJson(text))}}`,
        );
        client.clear();
      }),
      { numRuns: runs(200) },
    );
  });
});
