import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { foreignPartOf } from './expressions.ts';
import { shimFor } from './shim.ts';

const DATA = {
  name: 'mill',
  'a b': { c: 1 },
  rows: [
    { id: 1, tags: ['x', 'y'], price: 5, on: true },
    { id: 2, tags: ['z'], price: 3, on: false },
    { id: 3, price: 9 },
  ],
  by: { one: { n: 1 }, two: { n: 2 }, none: {} },
  deep: [[1, [2]], [3]],
};

function search(query: string, data: unknown = DATA): unknown {
  const code = `$jmespath(data, ${JSON.stringify(query)})`;
  const program = `((input, data) => {${shimFor(code)}\nreturn ${code};})({}, ${JSON.stringify(data)})`;
  const found: unknown = runInNewContext(program);
  return JSON.parse(JSON.stringify(found)) as unknown;
}

/** Examples of each construct of the language, with what its specification says. */
test.each([
  ['name', 'mill'],
  ['"a b".c', 1],
  ['nothing.at.all', null],
  ['rows[0].id', 1],
  ['rows[-1].id', 3],
  ['rows[9]', null],
  ['rows[*].price', [5, 3, 9]],
  ['rows[].tags[]', ['x', 'y', 'z']],
  ['rows[*].tags', [['x', 'y'], ['z']]],
  ['rows[?on].id', [1]],
  ['rows[?price > `4` && id != `3`].id', [1]],
  ["rows[?tags && contains(tags, 'z')].id | [0]", 2],
  ['rows[?!on].id', [2, 3]],
  ['rows[:2].id', [1, 2]],
  ['rows[::-1].id', [3, 2, 1]],
  ['rows[1:].id', [2, 3]],
  ['by.*.n', [1, 2]],
  ['deep[]', [1, [2], 3]],
  ['deep[][]', [1, 2, 3]],
  ['rows[0].[id, price]', [1, 5]],
  ['rows[*].{key: id, cost: price}', [1, 2, 3].map((key, at) => ({ key, cost: [5, 3, 9][at] }))],
  ['missing || name', 'mill'],
  ['sort_by(rows, &price)[*].id', [2, 1, 3]],
  ['max_by(rows, &price).id', 3],
  ['sum(rows[*].price)', 17],
  ['length(rows)', 3],
  ["join(', ', rows[].tags[])", 'x, y, z'],
  ["join('-', map(&to_string(id), rows))", '1-2-3'],
  ['keys(by)', ['one', 'two', 'none']],
  ['type(rows[0].on)', 'boolean'],
  ['not_null(missing, name)', 'mill'],
  ['@.name', 'mill'],
  ['`{"a": [1]}`.a[0]', 1],
  ["'it\\'s'", "it's"],
])('%s finds %j', (query, expected) => {
  expect(search(query)).toEqual(expected);
});

test('lists that n8n has are searched, and mistakes are named', () => {
  expect(search('[].json.name', [{ json: { name: 'a' } }, { json: {} }, { json: { name: 'b' } }])).toEqual([
    'a',
    'b',
  ]);
  expect(() => search('rows[')).toThrow(/JMESPath/);
  expect(() => search('nope(rows)')).toThrow(/there is no function nope/);
  expect(() => search('rows[::0]')).toThrow(/step/);
  expect(search('constructor')).toBeNull();
  expect(foreignPartOf('$jmespath($json, "a")')).toBeNull();
});
