import { type JsonObject, type JsonValue, parseJson, stringifyJson } from '@millrace/engine';
import { inEnglish } from '@millrace/messages/english';
import { runNode } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { coreData } from './core-data.ts';

type StepConfig = { readonly operation: string; readonly [name: string]: JsonValue };

async function run(data: JsonValue, ...steps: StepConfig[]): Promise<JsonValue> {
  const { result } = await runNode(coreData, { config: { data, steps } });
  if (result.kind !== 'success') throw new Error(JSON.stringify(result));
  return result.output.data ?? null;
}

async function messageOf(data: JsonValue, ...steps: StepConfig[]): Promise<string> {
  const { result } = await runNode(coreData, { config: { data, steps } });
  if (result.kind !== 'failure') throw new Error(`it worked: ${JSON.stringify(result)}`);
  return `${result.code}: ${inEnglish(result.message)}`;
}

const people = [
  { id: 1, name: 'Ada', address: { city: 'London', zip: 'N1' }, tags: ['a', 'b'] },
  { id: 2, name: 'Bo', address: { city: 'Oslo', zip: '02' }, tags: [] },
  { id: 3, name: 'Cy', address: null, tags: ['c'] },
];

describe('core.data', () => {
  it('shows every operation in an example', () => {
    const { steps } = coreData.configSchema.properties as { steps: { items: { anyOf: JsonObject[] } } };
    const operations = steps.items.anyOf.map(({ properties }) => {
      const { operation } = properties as { operation: { const: string } };
      return operation.const;
    });
    const shown = coreData.examples.flatMap(({ config }) =>
      (config.steps as readonly StepConfig[]).map(({ operation }) => operation),
    );
    expect([...new Set(shown)].sort()).toEqual(operations.sort());
  });

  it('returns the result and its size', async () => {
    const steps = [{ operation: 'limit', count: 2 }];
    const list = await runNode(coreData, { config: { data: [1, 2, 3], steps } });
    expect(list.result).toMatchObject({ output: { data: [1, 2], count: 2 } });
    const object = await runNode(coreData, {
      config: { data: { a: 1, b: 2 }, steps: [{ operation: 'omit', fields: ['a'] }] },
    });
    expect(object.result).toMatchObject({ output: { data: { b: 2 }, count: null } });
  });

  it("applies steps in order and doesn't change its input", async () => {
    const data = structuredClone(people);
    const result = await run(
      data,
      { operation: 'rename', fields: [{ from: 'address.city', to: 'city' }] },
      { operation: 'sort', by: [{ field: 'city', direction: 'desc' }] },
      { operation: 'pick', fields: ['name', 'city'] },
      { operation: 'format_number', field: 'id' },
    );
    expect(result).toEqual([{ name: 'Bo', city: 'Oslo' }, { name: 'Ada', city: 'London' }, { name: 'Cy' }]);
    expect(data).toEqual(people);
  });

  it('picks and omits fields, including nested ones', async () => {
    const [ada] = people as unknown as [JsonObject];
    expect(await run(ada, { operation: 'pick', fields: ['address.city', 'id', 'missing.x'] })).toEqual({
      address: { city: 'London' },
      id: 1,
    });
    expect(
      await run(ada, { operation: 'omit', fields: ['address.city', 'tags', 'missing.x', 'name.x'] }),
    ).toEqual({
      id: 1,
      name: 'Ada',
      address: { zip: 'N1' },
    });
    const odd = parseJson('{"__proto__":{"x":1},"constructor":2,"n":null}');
    expect(
      stringifyJson(await run(odd, { operation: 'pick', fields: ['__proto__.x', 'toString', 'n'] })),
    ).toBe('{"__proto__":{"x":1},"n":null}');
    expect(stringifyJson(await run(odd, { operation: 'omit', fields: ['__proto__'] }))).toBe(
      '{"constructor":2,"n":null}',
    );
  });

  it('renames in place, swaps, moves out of and into objects', async () => {
    const rename = (data: JsonValue, ...pairs: [string, string][]): Promise<JsonValue> =>
      run(data, { operation: 'rename', fields: pairs.map(([from, to]) => ({ from, to })) });
    expect(stringifyJson(await rename({ a: 1, b: 2, c: 3 }, ['b', 'x']))).toBe('{"a":1,"x":2,"c":3}');
    expect(await rename({ a: 1, b: 2 }, ['a', 'b'], ['b', 'a'])).toEqual({ a: 2, b: 1 });
    expect(await rename({ a: 1, b: 2 }, ['a', 'b'])).toEqual({ b: 1 });
    expect(await rename({ a: { b: 1, c: 2 } }, ['a.b', 'd.e'])).toEqual({ a: { c: 2 }, d: { e: 1 } });
    expect(await rename({ a: { b: 1 } }, ['a.b', 'a'])).toEqual({ a: 1 });
    expect(await rename({ a: 1 }, ['missing', 'x'])).toEqual({ a: 1 });
  });

  it('sorts by several fields, with types and null in their places', async () => {
    const rows = [
      { k: 'b', n: '10' },
      { k: 'a', n: '9' },
      { k: 'b', n: '9' },
      { k: null, n: 'x' },
      { k: 'a', n: 2 },
    ];
    const sorted = await run(rows, {
      operation: 'sort',
      by: [
        { field: 'k', direction: 'desc' },
        { field: 'n', as: 'number' },
      ],
    });
    expect(sorted).toEqual([rows[2], rows[0], rows[4], rows[1], rows[3]]);
    const by = (as: string): Promise<JsonValue> =>
      run([10, '9', 9, null, '10', true, [1]], { operation: 'sort', by: [{ as }] });
    expect(await by('auto')).toEqual([9, 10, '10', '9', true, [1], null]);
    expect(await by('number')).toEqual(['9', 9, 10, '10', null, true, [1]]);
    expect(await by('text')).toEqual([10, '10', '9', 9, true, null, [1]]);
  });

  it('keeps the first or the last of equal items', async () => {
    const data = parseJson('[1,1.0,"1",{"a":1,"b":2},{"b":2,"a":1},9007199254740993,9007199254740992]');
    expect(stringifyJson(await run(data, { operation: 'unique' }))).toBe(
      '[1,"1",{"a":1,"b":2},9007199254740993,9007199254740992]',
    );
    const rows = [
      { k: 1, v: 'x' },
      { k: 2, v: 'y' },
      { k: 1, v: 'z' },
    ];
    expect(await run(rows, { operation: 'unique', by: ['k'] })).toEqual([rows[0], rows[1]]);
    expect(await run(rows, { operation: 'unique', by: ['k'], keep: 'last' })).toEqual([rows[1], rows[2]]);
  });

  it('groups', async () => {
    const rows = [
      { c: 'JP', n: { y: 1 } },
      { c: 'NZ', n: { y: 1 } },
      { c: 'JP', n: { y: 1 } },
      { n: { y: 2 } },
    ];
    expect(await run(rows, { operation: 'group', by: ['c', 'n.y'] })).toEqual([
      { key: { c: 'JP', y: 1 }, items: [rows[0], rows[2]], count: 2 },
      { key: { c: 'NZ', y: 1 }, items: [rows[1]], count: 1 },
      { key: { c: null, y: 2 }, items: [rows[3]], count: 1 },
    ]);
  });

  it('aggregates, overall and by group, with exact decimals', async () => {
    const rows = parseJson(
      '[{"c":"a","p":0.1,"d":"2026-02-01"},{"c":"b","p":"9007199254740993","d":"2026-01-01"},{"c":"a","p":0.2,"d":null},{"c":"a"}]',
    );
    const values = [
      { function: 'count' },
      { function: 'count', field: 'p' },
      { function: 'sum', field: 'p' },
      { function: 'average', field: 'p', name: 'mean' },
      { function: 'min', field: 'd' },
      { function: 'max', field: 'd', name: 'newest' },
      { function: 'first', field: 'p' },
      { function: 'last', field: 'p' },
      { function: 'list', field: 'd' },
    ];
    expect(stringifyJson(await run(rows, { operation: 'aggregate', values }))).toBe(
      '{"count":4,"count_p":3,"sum_p":9007199254740993.3,"mean":3002399751580331.1,"min_d":"2026-01-01","newest":"2026-02-01","first_p":0.1,"last_p":0.2,"list_d":["2026-02-01","2026-01-01"]}',
    );
    expect(await run(rows, { operation: 'aggregate', by: ['c'], values: values.slice(0, 4) })).toMatchObject([
      { c: 'a', count: 3, count_p: 2, sum_p: 0.3, mean: 0.15 },
      { c: 'b', count: 1, count_p: 1 },
    ]);
    expect(await run([], { operation: 'aggregate', values: values.slice(0, 5) })).toEqual({
      count: 0,
      count_p: 0,
      sum_p: 0,
      mean: null,
      min_d: null,
    });
    expect(await run([], { operation: 'aggregate', by: ['c'], values })).toEqual([]);
  });

  it('joins in four ways', async () => {
    const left = [
      { id: 1, v: 'a' },
      { id: 2, v: 'b' },
      { id: null, v: 'c' },
    ];
    const right = [
      { id: '1.0', v: 'x', w: 1 },
      { id: 1, w: 2 },
      { id: 3, w: 3 },
      { id: null, w: 4 },
    ];
    const join = (type: string, as = ''): Promise<JsonValue> =>
      run(left, { operation: 'join', with: right, on: [{ left: 'id', right: 'id' }], type, as });
    const pairs = [
      { id: 1, v: 'a', w: 1 },
      { id: 1, v: 'a', w: 2 },
    ];
    expect(await join('inner')).toEqual(pairs);
    expect(await join('left')).toEqual([...pairs, left[1], left[2]]);
    expect(await join('right')).toEqual([...pairs, right[2], right[3]]);
    expect(await join('full')).toEqual([...pairs, left[1], left[2], right[2], right[3]]);
    expect(await join('full', 'r')).toEqual([
      { ...left[0], r: right[0] },
      { ...left[0], r: right[1] },
      { ...left[1], r: null },
      { ...left[2], r: null },
      { r: right[2] },
      { r: right[3] },
    ]);
  });

  it('splits lists and texts', async () => {
    expect(await run([1, 2, 3, 4, 5], { operation: 'chunk', size: 2 })).toEqual([[1, 2], [3, 4], [5]]);
    expect(await run([], { operation: 'chunk', size: 2 })).toEqual([]);
    expect(await run(' a, b,,c ', { operation: 'split' })).toEqual(['a', 'b', 'c']);
    expect(await run('a;b;', { operation: 'split', separator: ';', skip_empty: false })).toEqual([
      'a',
      'b',
      '',
    ]);
    expect(await run(' a\n b', { operation: 'split', separator: '\n', trim: false })).toEqual([' a', ' b']);
    expect(await run('a😀', { operation: 'split', separator: '' })).toEqual(['a', '😀']);
    expect(await run([{ t: 'a,b' }, { x: 1 }], { operation: 'split', field: 't' })).toEqual([
      { t: ['a', 'b'] },
      { x: 1 },
    ]);
  });

  it('flattens lists, and expands a field', async () => {
    const nested = [1, [2, [3, [4]]], []];
    expect(await run(nested, { operation: 'flatten' })).toEqual([1, 2, [3, [4]]]);
    expect(await run(nested, { operation: 'flatten', levels: 100 })).toEqual([1, 2, 3, 4]);
    expect(
      await run(
        people,
        { operation: 'flatten', field: 'tags' },
        { operation: 'pick', fields: ['id', 'tags'] },
      ),
    ).toEqual([
      { id: 1, tags: 'a' },
      { id: 1, tags: 'b' },
      { id: 3, tags: 'c' },
    ]);
  });

  it('formats dates and numbers, and keeps null', async () => {
    const rows = [{ at: '2026-03-08T23:30:00Z', n: 1234567.005 }, { at: null }];
    expect(
      await run(
        rows,
        { operation: 'format_date', field: 'at', to: 'day', format: 'dd.MM.yyyy', zone: 'Europe/Berlin' },
        {
          operation: 'format_number',
          field: 'n',
          decimal_separator: ',',
          thousands_separator: '.',
          suffix: ' €',
        },
      ),
    ).toEqual([{ at: '2026-03-08T23:30:00Z', n: '1.234.567,01 €', day: '09.03.2026' }, { at: null }]);
    const numbers = parseJson('[0, -0.004, -1234.5, "12", 999.999, 1e21, 123456789012345678901234.5, null]');
    expect(await run(numbers, { operation: 'format_number', prefix: '$' })).toEqual([
      '$0.00',
      '$0.00',
      '-$1,234.50',
      '$12.00',
      '$1,000.00',
      '$1,000,000,000,000,000,000,000.00',
      '$123,456,789,012,345,678,901,234.50',
      null,
    ]);
    expect(await run(1234.5, { operation: 'format_number', decimals: 0, thousands_separator: '$&' })).toBe(
      '1$&235',
    );
    expect(await run('2026-01-31', { operation: 'format_date' })).toBe('2026-01-31');
    expect(await run(0, { operation: 'format_date', format: 'unix' })).toBe(0);
  });

  it.each([
    [{}, '09'],
    [{ zone: 'Europe/Berlin' }, '01'],
  ])("formats dates in the workflow's zone if the step names none: %j", async (zone, expected) => {
    const steps = [{ operation: 'format_date', format: 'HH', ...zone }];
    const { result } = await runNode(coreData, { config: { data: 0, steps }, timezone: 'Asia/Tokyo' });
    expect(result).toMatchObject({ output: { data: expected } });
  });

  it.each<[JsonValue, StepConfig, RegExp]>([
    [
      { a: 1 },
      { operation: 'sort', by: [{ field: 'a' }] },
      /Step 1 \(sort\) needs a list, but has an object\./,
    ],
    ['x', { operation: 'pick', fields: ['a'] }, /\(pick\) needs objects, but the data is a text/],
    [[{}, 1], { operation: 'omit', fields: ['a'] }, /\(omit\) needs objects, but item 1 is a number/],
    [
      [{ p: 1 }, { p: '12,50' }],
      { operation: 'aggregate', values: [{ function: 'sum', field: 'p' }] },
      /needs numbers, but p of item 1 is a text that is not a number/,
    ],
    [
      [1, 'a'],
      { operation: 'aggregate', values: [{ function: 'max' }] },
      /cannot compare a number with a text: item 1/,
    ],
    [
      [true],
      { operation: 'aggregate', values: [{ function: 'min' }] },
      /needs numbers or texts, but item 0 is a boolean/,
    ],
    [
      [],
      { operation: 'aggregate', by: ['a.id'], values: [{ function: 'count', name: 'id' }] },
      /two results named "id"/,
    ],
    [
      [{}],
      { operation: 'join', with: { a: 1 }, on: [{ left: 'a', right: 'a' }] },
      /needs a list in config\.with, but has an object/,
    ],
    [
      [{}],
      { operation: 'join', with: [1], on: [{ left: 'a', right: 'a' }] },
      /item 0 of config\.with is a number/,
    ],
    [7, { operation: 'split' }, /needs a text, but the data is a number/],
    [[{ t: 1 }], { operation: 'split', field: 't' }, /needs a text, but t of item 0 is a number/],
    [[{ t: 1 }], { operation: 'flatten', field: 't' }, /needs a list, but t of item 0 is a number/],
    [['soon'], { operation: 'format_date' }, /needs a date, but item 0 is a text that is not a date/],
    [[0], { operation: 'format_date', zone: 'Mars' }, /does not know the time zone "Mars"/],
    [{ n: [] }, { operation: 'format_number', field: 'n' }, /needs a number, but n of the data is a list/],
  ])('says which step cannot work on %j, and why', async (data, step, message) => {
    expect(await messageOf(data, step)).toMatch(message);
    expect(await messageOf(data, step)).toMatch(/^invalid_data: Step 1 /);
  });

  it('stops before lists become too large', async () => {
    const many = Array.from({ length: 2_000 }, () => ({ k: 1 }));
    const join = { operation: 'join', with: many, on: [{ left: 'k', right: 'k' }] };
    expect(await messageOf(many, join)).toContain('Step 1 (join) would produce more than 1000000 items');
    const inner = Array(2_000).fill(0);
    const nested = { operation: 'flatten', field: 'x' };
    const rows = Array.from({ length: 1_000 }, () => ({ x: inner }));
    expect(await messageOf(rows, nested)).toContain('(flatten) would produce more than 1000000 items');
  });

  it.each([
    { steps: [] },
    { steps: [{ operation: 'explode' }] },
    { steps: [{ operation: 'pick' }] },
    { steps: [{ operation: 'pick', fields: [] }] },
    { steps: [{ operation: 'limit', count: -1 }] },
    { steps: [{ operation: 'chunk', size: 0 }] },
    { steps: [{ operation: 'sort', by: [{ field: 'a', direction: 'up' }] }] },
    { steps: [{ operation: 'unique', fields: ['a'] }] },
  ])('refuses $steps', async (config) => {
    const { result } = await runNode(coreData, { config: { data: [], ...config } });
    expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config' });
  });

  it('handles 30,000 rows easily', async () => {
    const rows = Array.from({ length: 30_000 }, (_, id) => ({
      id,
      group: id % 1_000,
      text: String((id * 7919) % 100_000),
      price: id / 100,
    }));
    const others = rows.map(({ id }) => ({ key: String(id), extra: id * 2 }));
    const result = await run(
      rows,
      { operation: 'join', with: others, on: [{ left: 'id', right: 'key' }], type: 'full' },
      { operation: 'unique', by: ['id', 'text'] },
      {
        operation: 'sort',
        by: [
          { field: 'text', as: 'number' },
          { field: 'id', direction: 'desc' },
        ],
      },
      { operation: 'format_number', field: 'price', to: 'shown' },
      { operation: 'rename', fields: [{ from: 'extra', to: 'more.extra' }] },
      { operation: 'omit', fields: ['shown'] },
      { operation: 'group', by: ['text'] },
      { operation: 'flatten', field: 'items' },
      { operation: 'rename', fields: [{ from: 'items', to: 'row' }] },
      { operation: 'aggregate', by: ['row.group'], values: [{ function: 'sum', field: 'row.price' }] },
      { operation: 'aggregate', values: [{ function: 'sum', field: 'sum_price' }, { function: 'count' }] },
    );
    expect(result).toEqual({ sum_sum_price: 4499850, count: 1_000 });
  });
});
