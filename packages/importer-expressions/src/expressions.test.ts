import { describe, expect, it } from 'vitest';
import { foreignPartOf, itemsOf } from './expressions.ts';

describe('what only n8n can run', () => {
  it.each([
    ['const fs = require("fs");', 'require'],
    ['return await this.helpers.httpRequest({});', 'this.helpers'],
    ['const x = $("Loop").context.noItemsLeft;', '.context'],
    ['const x = $node["Loop"].context["currentRunIndex"];', '.context'],
    ['const data = items[0].binary;', '.binary'],
    ['process.env.A', 'process.'],
  ])('%s', (code, part) => {
    expect(foreignPartOf(code)).toBe(part);
  });

  it.each([
    'return [{ json: { a: $json.context } }];',
    'const { context } = loop.context;',
    'const order = data.process.state;',
    '// We fetch(it) and process. require("x") is not used',
    'const text = "this.helpers";',
    'const text = `require("x")`;',
    'const prefetch = (a) => a; prefetch(1);',
    'cache.fetch(1);',
  ])('is not %s', (code) => {
    expect(foreignPartOf(code)).toBe(null);
  });

  it('is looked for in code that is no JavaScript, too', () => {
    expect(foreignPartOf('this is " require("x")')).toBe('require');
  });
});

it('items of a list that is written out are code', () => {
  expect(itemsOf('[$json.a, { b: [1, 2] }, "x"]')).toEqual(['$json.a', '{ b: [1, 2] }', '"x"']);
  expect([itemsOf('[...a]'), itemsOf('list'), itemsOf('[')]).toEqual([null, null, null]);
});
