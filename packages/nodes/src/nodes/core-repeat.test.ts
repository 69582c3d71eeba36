import { describe, expect, it } from 'vitest';
import { runLoop } from '../testing-loop.ts';
import { coreRepeat } from './core-repeat.ts';

const never = [{ left: 1, operator: 'equals', right: 2 }];

describe('core.repeat', () => {
  it('runs once if its condition is met from the start', async () => {
    const config = { until: [{ left: 1, operator: 'equals', right: 1 }] };
    expect(await runLoop(coreRepeat, { config })).toMatchObject({
      output: { iterations: 1, last: { item: null, index: 0 }, done: true },
    });
  });

  it('reads the nodes inside, and any of several conditions can be enough', async () => {
    const config = {
      until: [
        { left: '{{nodes.step.output.index}}', operator: 'equals', right: 4 },
        { left: '{{index}}', operator: 'greater_than', right: '{{trigger.data}}' },
      ],
      combine: 'any',
      result: '{{nodes.step.output.item}}:{{index}}',
    };
    expect(await runLoop(coreRepeat, { config, trigger: 1 })).toMatchObject({
      output: { iterations: 3, last: ':0:1:2', done: true },
    });
  });

  it('ends after 100 iterations by default', async () => {
    const failing = await runLoop(coreRepeat, { config: { until: never } });
    expect(failing).toMatchObject({ kind: 'failure', code: 'max_iterations_reached' });
    const going = await runLoop(coreRepeat, { config: { until: never, on_limit: 'continue' } });
    expect(going).toMatchObject({ output: { iterations: 100, done: false } });
  });

  it.each([[0], [10_001], ['5']])('refuses %j as its limit', async (limit) => {
    const config = { until: never, max_iterations: '{{trigger.data}}' };
    expect(await runLoop(coreRepeat, { config, trigger: limit })).toMatchObject({ code: 'invalid_config' });
  });

  it('refuses a condition that a template made unusable', async () => {
    const config = { until: '{{trigger.data}}' };
    for (const trigger of ['x', [], [{ left: 1, operator: 'resembles' }]]) {
      expect(await runLoop(coreRepeat, { config, trigger })).toMatchObject({ code: 'invalid_config' });
    }
  });
});
