import { type JsonValue, parseJson } from '@millrace/engine';
import { saying } from '@millrace/messages/testing';
import { runNode } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { coreFilter } from './core-filter.ts';

async function filter(items: JsonValue, ...conditions: readonly JsonValue[]) {
  return (await runNode(coreFilter, { config: { items, conditions } })).result;
}

describe('core.filter', () => {
  it('keeps the items that match, in order', async () => {
    const result = await filter([{ n: 3 }, { n: 1 }, { n: 2 }], {
      field: 'n',
      operator: 'greater_than',
      right: 1,
    });
    expect(result).toMatchObject({
      output: { items: [{ n: 3 }, { n: 2 }], count: 2, rejected_count: 1 },
      handles: ['out'],
    });
  });

  it('takes empty if nothing is left', async () => {
    const none = { output: { items: [], count: 0 }, handles: ['empty'] };
    expect(await filter([1, 2], { operator: 'greater_than', right: 5 })).toMatchObject(none);
    expect(await filter([], { operator: 'exists' })).toMatchObject(none);
  });

  it('checks the item itself without a field', async () => {
    expect(await filter(['a', '', null, 'b'], { field: '', operator: 'is_not_empty' })).toMatchObject({
      output: { items: ['a', 'b'], rejected_count: 2 },
    });
  });

  it('reads paths through objects and lists', async () => {
    const items = [{ tags: [{ name: 'x' }] }, { tags: [] }, { tags: null }, 7];
    expect(await filter(items, { field: 'tags.0.name', operator: 'equals', right: 'x' })).toMatchObject({
      output: { count: 1 },
    });
  });

  it.each(['constructor', '__proto__', 'toString.name', 'length', 'n.rawJSON', '0', '-1'])(
    'reads own members only, not %s',
    async (field) => {
      const items = parseJson('[{"n":9007199254740993},"text",[]]');
      expect(await filter(items, { field, operator: 'exists' })).toMatchObject({ output: { count: 0 } });
    },
  );

  it('keeps big numbers unchanged', async () => {
    const items = parseJson('[9007199254740993,9007199254740992]');
    const result = await filter(items, { operator: 'greater_than', right: parseJson('9007199254740992') });
    expect(result).toMatchObject({ output: { items: [parseJson('9007199254740993')] } });
  });

  it('any requires one condition', async () => {
    const config = {
      items: [1, 2, 3],
      combine: 'any',
      conditions: [
        { operator: 'equals', right: 1 },
        { operator: 'equals', right: 3 },
      ],
    };
    expect((await runNode(coreFilter, { config })).result).toMatchObject({ output: { items: [1, 3] } });
  });

  it.each([
    [null, 'null'],
    [{ a: 1 }, 'an object'],
    ['[1]', 'a text'],
    [3, 'a number'],
  ])('reports what it got instead of a list: %j', async (items, name) => {
    expect(await filter(items, { operator: 'exists' })).toMatchObject({
      kind: 'failure',
      code: 'not_a_list',
      retryable: false,
      message: saying(`is ${name}`),
    });
  });
});
