import { stop } from '@millrace/engine';
import { runNode } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { coreStop } from './core-stop.ts';

describe('core.stop', () => {
  it.each([
    [{ a: 1 }, { a: 1 }],
    [[1, 2], { result: [1, 2] }],
    ['done', { result: 'done' }],
    [null, { result: null }],
  ])('outputs %j as %j', async (result, output) => {
    const config = { result: '{{trigger.data}}' };
    expect((await runNode(coreStop, { config, trigger: result })).result).toEqual(stop(output));
  });

  it('has an empty result by default', async () => {
    expect((await runNode(coreStop, { config: {} })).result).toEqual(stop({}));
  });
});
