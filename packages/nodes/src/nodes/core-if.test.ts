import { success } from '@millrace/engine';
import { runNode } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { coreIf } from './core-if.ts';

const is = (left: unknown, right: unknown) => ({ left, operator: 'equals', right }) as const;

describe('core.if', () => {
  it('takes true if all conditions are met', async () => {
    const { result } = await runNode(coreIf, { config: { conditions: [is(1, 1), is('a', 'a')] } as never });
    expect(result).toEqual(success({ result: true }, { handles: ['true'] }));
  });

  it('takes false if one of all is not met', async () => {
    const { result } = await runNode(coreIf, { config: { conditions: [is(1, 1), is('a', 'b')] } as never });
    expect(result).toEqual(success({ result: false }, { handles: ['false'] }));
  });

  it('takes true if any is met', async () => {
    const { result } = await runNode(coreIf, {
      config: { combine: 'any', conditions: [is(1, 2), is('a', 'a')] } as never,
    });
    expect(result).toEqual(success({ result: true }, { handles: ['true'] }));
  });

  it('compares missing values as null', async () => {
    const { result } = await runNode(coreIf, {
      config: { conditions: [{ left: '{{trigger.data.missing}}', operator: 'not_exists' }] },
      trigger: {},
    });
    expect(result).toMatchObject({ output: { result: true } });
  });

  it.each([
    ['no conditions', {}],
    ['an empty list', { conditions: [] }],
    ['an unknown operator', { conditions: [{ left: 1, operator: 'resembles', right: '.*' }] }],
    ['an unknown way of combining', { conditions: [{ left: 1, operator: 'exists' }], combine: 'most' }],
  ])('refuses %s', async (_name, config) => {
    expect((await runNode(coreIf, { config })).result).toMatchObject({
      kind: 'failure',
      code: 'invalid_config',
    });
  });
});
