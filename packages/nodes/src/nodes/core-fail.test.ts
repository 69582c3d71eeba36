import { failure, parseJson } from '@millrace/engine';
import { message, verbatim } from '@millrace/messages';
import { runNode } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { coreFail } from './core-fail.ts';

describe('core.fail', () => {
  it('fails permanently with its message', async () => {
    const { result } = await runNode(coreFail, { config: { message: 'no stock' } });
    expect(result).toEqual(failure('workflow_failed', verbatim('no stock'), { fatal: true }));
  });

  it('accepts a code', async () => {
    const { result } = await runNode(coreFail, { config: { message: 'm', code: 'no_stock' } });
    expect(result).toMatchObject({ code: 'no_stock', fatal: true, retryable: false });
  });

  it.each([
    [{}, message('nodes.ended_by_fail')],
    [{ message: '{{trigger.data.missing}}' }, message('nodes.ended_by_fail')],
    [{ message: '{{trigger.data.n}}' }, verbatim('9007199254740993')],
    [{ message: '{{trigger.data}}' }, verbatim('{"n":9007199254740993}')],
    [{ message: 'x'.repeat(10_001) }, verbatim(`${'x'.repeat(10_000)}…`)],
  ])('fails whatever the message: %#', async (config, said) => {
    const { result } = await runNode(coreFail, { config, trigger: parseJson('{"n":9007199254740993}') });
    expect(result).toEqual(failure('workflow_failed', said, { fatal: true }));
  });

  it.each(['No Stock', '', '1st', 'a'.repeat(65)])('refuses the code %j', async (code) => {
    expect((await runNode(coreFail, { config: { code } })).result).toMatchObject({ code: 'invalid_config' });
  });
});
