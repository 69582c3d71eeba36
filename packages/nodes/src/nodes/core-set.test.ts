import { parseJson, stringifyJson, success } from '@millrace/engine';
import { runNode } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { coreSet } from './core-set.ts';

describe('core.set', () => {
  it('returns the object of its values', async () => {
    const values = { a: 1, nested: { list: [null, true] } };
    expect((await runNode(coreSet, { config: { values } })).result).toEqual(success(values));
  });

  it('keeps types and numbers of template values', async () => {
    const { result } = await runNode(coreSet, {
      config: { values: { same: '{{trigger.data.n}}', text: 'n={{trigger.data.n}}' } },
      trigger: parseJson('{"n":9007199254740993}'),
    });
    expect(stringifyJson(result.kind === 'success' ? result.output : null)).toBe(
      '{"same":9007199254740993,"text":"n=9007199254740993"}',
    );
  });

  it("doesn't evaluate template values", async () => {
    const { result } = await runNode(coreSet, {
      config: { values: { a: '{{trigger.data.x}}' } },
      trigger: { x: '{{execution.id}}' },
    });
    expect(result).toEqual(success({ a: '{{execution.id}}' }));
  });

  it('keeps a member named __proto__ as data', async () => {
    const values = parseJson('{"__proto__":{"polluted":true},"constructor":1}');
    const { result } = await runNode(coreSet, { config: { values } });
    expect(stringifyJson(result.kind === 'success' ? result.output : null)).toBe(stringifyJson(values));
    expect(Object.hasOwn({}, 'polluted') || 'polluted' in {}).toBe(false);
  });

  it('is an empty object without values', async () => {
    expect((await runNode(coreSet)).result).toEqual(success({}));
  });

  it.each([['text'], [[1]], [7]])('refuses values that are not an object: %j', async (values) => {
    expect((await runNode(coreSet, { config: { values } })).result).toMatchObject({
      kind: 'failure',
      code: 'invalid_config',
      retryable: false,
    });
  });
});
