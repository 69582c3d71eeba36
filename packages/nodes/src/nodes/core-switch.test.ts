import { success } from '@millrace/engine';
import { runNode } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { coreSwitch } from './core-switch.ts';

const caseOf = (name: string, operator: string, right: number) => ({
  name,
  conditions: [{ left: '{{trigger.data.n}}', operator, right }],
});
const cases = [
  caseOf('small', 'less_than', 10),
  caseOf('any', 'greater_than', 0),
  caseOf('large', 'greater_than', 99),
];

describe('core.switch', () => {
  it.each([
    [5, ['small']],
    [50, ['any']],
    [100, ['any']],
  ])('takes the first case that matches %i', async (n, matched) => {
    const { result } = await runNode(coreSwitch, { config: { cases }, trigger: { n } });
    expect(result).toEqual(success({ matched }, { handles: matched }));
  });

  it('takes every matching case in mode all_matches', async () => {
    const { result } = await runNode(coreSwitch, {
      config: { cases, mode: 'all_matches' },
      trigger: { n: 100 },
    });
    expect(result).toEqual(success({ matched: ['any', 'large'] }, { handles: ['any', 'large'] }));
  });

  it.each(['first_match', 'all_matches'])('takes default if none matches in mode %s', async (mode) => {
    const { result } = await runNode(coreSwitch, { config: { cases, mode }, trigger: { n: null } });
    expect(result).toEqual(success({ matched: [] }, { handles: ['default'] }));
  });

  it('combines the conditions of a case', async () => {
    const conditions = [
      { left: 1, operator: 'equals', right: 2 },
      { left: 1, operator: 'equals', right: 1 },
    ];
    const config = { cases: [{ name: 'either', combine: 'any', conditions }] };
    expect((await runNode(coreSwitch, { config })).result).toMatchObject({ handles: ['either'] });
  });

  it('has the case names and default as handles', () => {
    expect(coreSwitch.handles?.({ cases })).toEqual(['small', 'any', 'large', 'default']);
    expect(
      coreSwitch.handles?.({ cases: [...cases, ...cases, { name: 'error' }, { name: '{{x}}' }] }),
    ).toEqual(['small', 'any', 'large', 'default']);
  });

  it.each([['default'], ['error'], ['small'], [''], ['{{trigger.data.n}} {'], ['x'.repeat(65)]])(
    'refuses a second case with the name %j',
    async (name) => {
      const config = { cases: [cases[0] ?? {}, { ...caseOf('a', 'exists', 0), name }] };
      const { result } = await runNode(coreSwitch, { config, trigger: { n: 'x' } });
      expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config' });
    },
  );

  it('accepts names in any script', async () => {
    const config = { cases: [caseOf('支払い済み 💴', 'exists', 0)] };
    const { result } = await runNode(coreSwitch, { config, trigger: { n: 1 } });
    expect(result).toMatchObject({ handles: ['支払い済み 💴'] });
    expect(coreSwitch.handles?.(config)).toEqual(['支払い済み 💴', 'default']);
  });
});
