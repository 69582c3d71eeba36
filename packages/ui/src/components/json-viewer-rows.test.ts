import { type JsonValue, parseJson, parseTemplate, templateStep } from '@millrace/engine';
import { expect, test } from 'vitest';
import {
  MAX_ENTRIES,
  type Matches,
  openAll,
  openAtFirst,
  pathOf,
  patternOf,
  placeOf,
  rowsOf,
  search,
} from './json-viewer-rows.ts';

function found(value: JsonValue, text: string, max = 10): Matches {
  const steps = search(value, text, max);
  for (;;) {
    const { done, value: result } = steps.next();
    if (done === true) return result;
  }
}

test('matches are found in names and values, in any case, in order', () => {
  const value = parseJson('{"Id": [{"x": "AN ID"}, 9007199254740993], "other": {"id": null}}');
  expect(found(value, 'id').paths).toEqual([['Id'], ['Id', 0, 'x'], ['other', 'id']]);
  expect(found(value, '740993').paths).toEqual([['Id', 1]]);
  expect(found(value, 'nothing')).toEqual({ paths: [], isCut: false });
  expect(found('a+b (c)', '+B (').paths).toEqual([[]]);
});

test("a search that finds more than its limit says so, one that finds exactly as many doesn't", () => {
  const list = Array.from({ length: 3_000 }, () => 'x');
  expect(found(list, 'x', 2_999)).toMatchObject({ isCut: true });
  expect(found(list, 'x', 3_000)).toMatchObject({ isCut: false });
});

test('a match is located in the text, even if its lower case is longer', () => {
  expect(patternOf('ab').exec('İİ AB')?.index).toBe(3);
});

test('everything is expanded from the top, and what is left out is reported', () => {
  const value = [[1], [[2]], [3]];
  expect(openAll(value, 3)).toEqual({ open: new Set(['', '/0', '/1']), isAll: false });
  expect(openAll(value, 5).isAll).toBe(true);
});

test('each line knows its position and its path', () => {
  const rows = rowsOf({ 'a/b': [{ c: 1 }] }, new Set(['', '/a~1b', '/a~1b/0']));
  expect(rows.map(({ place }) => place)).toEqual(['', '/a~1b', '/a~1b/0', '/a~1b/0/c']);
  for (const row of rows) expect(placeOf(pathOf(row))).toBe(row.place);
});

test('of an endless list the first items are shown, with the number of further ones', () => {
  const value = Array.from({ length: MAX_ENTRIES + 7 }, () => 0);
  const rows = rowsOf(value, openAtFirst(value, 100));
  expect(rows).toHaveLength(MAX_ENTRIES + 2);
  expect(rows.at(-1)?.left).toBe(7);
});

test('a name is written as in a template', () => {
  for (const name of [
    'plain',
    'two words',
    'a.b',
    'quo"te\\',
    'line\nbreak\tand \r',
    '',
    '日本',
    '__proto__',
  ]) {
    const parsed = parseTemplate(`{{nodes.a.output${templateStep(name)}${templateStep(3)}}}`);
    expect(parsed).toMatchObject({
      template: { expression: { kind: 'path', names: ['nodes', 'a', 'output', name, '3'] } },
    });
  }
});
