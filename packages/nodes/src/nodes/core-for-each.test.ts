import type { FlowNode, NodeResult } from '@millrace/engine';
import { saying } from '@millrace/messages/testing';
import { describe, expect, it } from 'vitest';
import { runLoop } from '../testing-loop.ts';
import { coreFail } from './core-fail.ts';
import { coreFilter } from './core-filter.ts';
import { coreForEach } from './core-for-each.ts';

describe('core.for_each', () => {
  it('accepts 100,000 items and not one more', async () => {
    const trigger = Array.from({ length: 100_001 }, (_, n) => n);
    const config = { items: '{{trigger.data}}', result: '{{index}}' };
    expect(await runLoop(coreForEach, { config, trigger })).toMatchObject({
      kind: 'failure',
      code: 'too_many_items',
      message: saying('100001 items'),
    });
    const most = await runLoop(coreForEach, { config, trigger: trigger.slice(0, 100_000) });
    expect(most).toEqual({
      ...{ kind: 'success', handles: ['out'], consumedAiTokens: 0 },
      output: { items: trigger.slice(0, 100_000), errors: [] },
    });
  });

  it('does nothing without items', async () => {
    expect(await runLoop(coreForEach, { config: { items: [] } })).toMatchObject({
      output: { items: [], errors: [] },
    });
  });

  it('keeps numbers beyond a double', async () => {
    const config = { items: '{{trigger.data}}', result: '{{item}}' };
    const trigger = JSON.parse('[1]', () => [JSON.rawJSON('9007199254740993')]);
    expect(JSON.stringify(await runLoop(coreForEach, { config, trigger }))).toContain('[9007199254740993]');
  });

  it.each([
    ['text', 'a,b'],
    ['an object', { a: 1 }],
    ['nothing', null],
    ['a number', 3],
  ])('refuses %s instead of a list', async (_name, trigger) => {
    expect(await runLoop(coreForEach, { config: { items: '{{trigger.data}}' }, trigger })).toMatchObject({
      kind: 'failure',
      code: 'invalid_config',
      message: saying('"items"'),
    });
  });

  it.each([[0], [101], [1.5], ['2']])('refuses %j as its concurrency', async (concurrency) => {
    const config = { items: [], concurrency: '{{trigger.data}}' };
    expect(await runLoop(coreForEach, { config, trigger: concurrency })).toMatchObject({
      code: 'invalid_config',
    });
  });

  it('collects failures, or fails with the first', async () => {
    const conditions = [{ operator: 'exists' }];
    const data = { config: { items: '{{item}}', conditions } };
    const body: FlowNode[] = [{ id: 'check', type: 'core.filter', data }];
    const run = (how: string): Promise<NodeResult> =>
      runLoop(coreForEach, {
        ...{ config: { items: [[7], 'x', []], on_item_error: how, result: '{{nodes.check.output.items}}' } },
        ...{ body, types: [coreFilter] },
      });
    expect(await run('collect')).toMatchObject({
      kind: 'success',
      output: {
        items: [[7], null, []],
        errors: [{ index: 1, code: 'not_a_list', node_id: 'check', message: expect.any(String) }],
      },
    });
    expect(await run('fail')).toMatchObject({
      ...{ kind: 'failure', code: 'not_a_list' },
      origin: { iteration: [1], nodeId: 'check', label: 'check' },
    });
  });

  it('a fatal failure inside fails the execution', async () => {
    const body: FlowNode[] = [{ id: 'fail', type: 'core.fail', data: { config: { code: 'enough' } } }];
    const config = { items: [1, 2], on_item_error: 'collect' };
    await expect(runLoop(coreForEach, { config, body, types: [coreFail] })).rejects.toThrow('cancelled');
  });
});
