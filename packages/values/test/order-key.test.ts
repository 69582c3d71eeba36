import { runs } from '@millrace/testing/property-runs';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { type JsonValue, parseJson } from '../src/json.ts';
import { compareKeys, orderKey, sortByKeysWork } from '../src/order-key.ts';
import { finishWork, Meter } from '../src/work.ts';

const key = fc.oneof(
  fc.constantFrom<JsonValue>(null, true, false, 0, -0, 1, 2, 'a', 'b', '', 'é', '😀', '\uffff'),
  fc
    .constantFrom('1e400', '-1e400', '9007199254740993', '0.1000000000000000000001')
    .map((text) => parseJson(text)),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.string({ maxLength: 3 }),
  fc.constant<JsonValue>([]),
);

it('sorting by keys comes to what comparing them comes to, and equal items keep their order', () => {
  fc.assert(
    fc.property(fc.array(key, { maxLength: 40 }), fc.constantFrom<1 | -1>(1, -1), (keys, sign) => {
      const items = keys.map((each, place) => ({ each, place }));
      const expected = items
        .map((item) => ({ item, key: orderKey(item.each) }))
        .sort((left, right) => left.key.rank - right.key.rank || sign * compareKeys(left.key, right.key))
        .map(({ item }) => item.place);
      const sorted = finishWork(sortByKeysWork(items, keys, sign, new Meter()));
      expect(sorted.map((item) => (item as (typeof items)[number]).place)).toEqual(expected);
    }),
    { numRuns: runs(300) },
  );
});
