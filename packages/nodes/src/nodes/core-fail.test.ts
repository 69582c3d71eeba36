import { failure, parseJson } from '@millrace/engine';
import { describe, expect, it } from 'vitest';
import { runNode } from '../testing.ts';
import { coreFail } from './core-fail.ts';

describe('core.fail', () => {
  it('fails for good with its message', async () => {
    const { result } = await runNode(coreFail, { config: { message: 'no stock' } });
    expect(result).toEqual(failure('workflow_failed', 'no stock', { fatal: true }));
  });

  it('takes a code', async () => {
    const { result } = await runNode(coreFail, { config: { message: 'm', code: 'no_stock' } });
    expect(result).toMatchObject({ code: 'no_stock', fatal: true, retryable: false });
  });

  it.each([
    [{}, 'The workflow was ended by a Fail node.'],
    [{ message: '{{trigger.data.missing}}' }, 'The workflow was ended by a Fail node.'],
    [{ message: '{{trigger.data.n}}' }, '9007199254740993'],
    [{ message: '{{trigger.data}}' }, '{"n":9007199254740993}'],
    [{ message: 'x'.repeat(10_001) }, `${'x'.repeat(10_000)}…`],
  ])('fails whatever the message is: %#', async (config, message) => {
    const { result } = await runNode(coreFail, { config, trigger: parseJson('{"n":9007199254740993}') });
    expect(result).toEqual(failure('workflow_failed', message, { fatal: true }));
  });

  it.each(['No Stock', '', '1st', 'a'.repeat(65)])('refuses the code %j', async (code) => {
    expect((await runNode(coreFail, { config: { code } })).result).toMatchObject({ code: 'invalid_config' });
  });
});
