import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import { runNode } from '@millrace/node-kit/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coreData } from './core-data.ts';

async function run(data: JsonValue, ...steps: JsonObject[]): Promise<JsonValue> {
  const { result } = await runNode(coreData, { config: { data, steps } });
  if (result.kind !== 'success') throw new Error(JSON.stringify(result));
  return result.output.data ?? null;
}

describe('core.data against simple models', () => {
  const key = fc.constantFrom<JsonValue>(null, 0, 1, 2, '1', 'a', true);
  const row = fc.record(
    { k: key, n: fc.oneof(fc.integer({ min: -9, max: 9 }), fc.constant(null)), id: fc.nat() },
    { requiredKeys: [] },
  ) as fc.Arbitrary<JsonObject>;
  const rows = fc.array(row, { maxLength: 12 });
  const at = (item: JsonValue, name: string): JsonValue => (isJsonObject(item) ? (item[name] ?? null) : null);
  const same = (a: JsonValue, b: JsonValue): boolean => JSON.stringify(a) === JSON.stringify(b);
  const rank = (value: JsonValue): number =>
    value === null ? 9 : typeof value === 'number' ? 0 : typeof value === 'string' ? 1 : 2;

  it('sort is the stable insertion of each item after those that are not greater', async () => {
    await fc.assert(
      fc.asyncProperty(rows, fc.boolean(), async (list, isDescending) => {
        const sorted: JsonObject[] = [];
        const isAfter = (a: JsonValue, b: JsonValue): boolean => {
          if (rank(a) !== rank(b)) return rank(a) > rank(b);
          if (a === null || b === null) return false;
          return isDescending ? a < b : a > b;
        };
        for (const item of list) {
          const place = sorted.findIndex((each) => isAfter(at(each, 'k'), at(item, 'k')));
          sorted.splice(place === -1 ? sorted.length : place, 0, item);
        }
        const by = [{ field: 'k', direction: isDescending ? 'desc' : 'asc' }];
        expect(await run(list, { operation: 'sort', by })).toEqual(sorted);
      }),
    );
  });

  it('unique keeps an item if none before it is equal', async () => {
    await fc.assert(
      fc.asyncProperty(rows, async (list) => {
        const kept = list.filter(
          (item, index) => !list.slice(0, index).some((each) => same(at(each, 'k'), at(item, 'k'))),
        );
        expect(await run(list, { operation: 'unique', by: ['k'] })).toEqual(kept);
      }),
    );
  });

  it('groups contain every item once, in order, and their sums add up to the whole', async () => {
    await fc.assert(
      fc.asyncProperty(rows, async (list) => {
        const groups = (await run(list, { operation: 'group', by: ['k'] })) as JsonObject[];
        expect(groups.flatMap(({ items }) => items as JsonObject[])).toHaveLength(list.length);
        for (const { key: found, items } of groups) {
          expect(items).toEqual(list.filter((each) => same(at(each, 'k'), at(found ?? null, 'k'))));
        }
        const values = [
          { function: 'sum', field: 'n', name: 's' },
          { function: 'count', name: 'c' },
        ];
        const parts = (await run(list, { operation: 'aggregate', by: ['k'], values })) as JsonObject[];
        const whole = await run(list, { operation: 'aggregate', values });
        const total = (name: string): number => parts.reduce((sum, part) => sum + Number(part[name]), 0);
        expect(whole).toEqual({ s: total('s'), c: total('c') });
        expect(total('s')).toBe(list.reduce((sum, each) => sum + Number(at(each, 'n') ?? 0), 0));
      }),
    );
  });

  it('min, max and average are those of a loop', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: -1000, max: 1000 })), async (list) => {
        const values = ['min', 'max', 'average'].map((name) => ({ function: name }));
        const { min, max, average } = (await run(list, { operation: 'aggregate', values })) as JsonObject;
        expect(min).toBe(list.length === 0 ? null : Math.min(...list));
        expect(max).toBe(list.length === 0 ? null : Math.max(...list));
        const mean = list.reduce((sum, each) => sum + each, 0) / list.length;
        if (list.length > 0) expect(average).toBeCloseTo(mean, 9);
      }),
    );
  });

  it('a join is every equal pair, plus the items without a match', async () => {
    const types = fc.constantFrom('inner', 'left', 'right', 'full');
    const equals = (a: JsonValue, b: JsonValue): boolean =>
      a !== null &&
      b !== null &&
      (a === b ||
        (typeof a !== 'boolean' && typeof b !== 'boolean' && `${a as string}` === `${b as string}`));
    await fc.assert(
      fc.asyncProperty(rows, rows, types, async (left, right, type) => {
        const matches = (a: JsonObject, b: JsonObject): boolean => equals(at(a, 'k'), at(b, 'k'));
        const expected: JsonValue[] = left.flatMap((a): JsonObject[] => {
          const partners = right.filter((b) => matches(a, b));
          if (partners.length === 0) return type === 'left' || type === 'full' ? [{ ...a, r: null }] : [];
          return partners.map((b) => ({ ...a, r: b }));
        });
        if (type === 'right' || type === 'full') {
          expected.push(...right.filter((b) => !left.some((a) => matches(a, b))).map((r) => ({ r })));
        }
        const on = [{ left: 'k', right: 'k' }];
        expect(await run(left, { operation: 'join', with: right, on, type, as: 'r' })).toEqual(expected);
      }),
    );
  });

  it('chunk and flatten are inverse; limit is a slice', async () => {
    const lists = fc.array(fc.integer(), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(lists, fc.integer({ min: 1, max: 7 }), fc.nat(10), async (list, size, skip) => {
        const chunks = (await run(list, { operation: 'chunk', size })) as number[][];
        expect(chunks.every((each, index) => each.length === size || index === chunks.length - 1)).toBe(true);
        expect(await run(chunks, { operation: 'flatten' })).toEqual(list);
        expect(await run(list, { operation: 'limit', count: size, skip })).toEqual(
          list.slice(skip, skip + size),
        );
      }),
    );
  });

  it('pick and omit divide the fields between them', async () => {
    const object = fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'toString'), fc.integer());
    const fields = fc.subarray(['a', 'b', '__proto__', 'toString', 'zzz'], { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(object, fields, async (data, names) => {
        const picked = (await run(data, { operation: 'pick', fields: names })) as JsonObject;
        const omitted = (await run(data, { operation: 'omit', fields: names })) as JsonObject;
        expect(new Map([...Object.entries(picked), ...Object.entries(omitted)])).toEqual(
          new Map(Object.entries(data)),
        );
        expect(Object.keys(picked).length + Object.keys(omitted).length).toBe(Object.keys(data).length);
        expect(Object.keys(picked).every((name) => names.includes(name))).toBe(true);
        expect(Object.keys(omitted).some((name) => names.includes(name))).toBe(false);
      }),
    );
  });
});
