import type { JsonValue } from '@millrace/engine';
import { Type } from 'typebox';
import { combinedHold, combineSchema, conditionsSchema } from '../conditions.ts';
import { checkedNode } from '../define.ts';

export const coreRepeat = checkedNode({
  type: 'core.repeat',
  title: 'Repeat',
  description:
    'Runs the nodes inside it again and again until conditions hold. They read `{{index}}` and, as `{{item}}`, what the iteration before came to (null at first). Its output is the number of `iterations`, what the `last` came to, and whether it is `done`.',
  icon: 'repeat',
  kind: 'loop',
  properties: {
    until: {
      ...conditionsSchema,
      title: 'Until',
      description:
        'Looked at after each iteration; the templates may read the nodes inside, such as {{nodes.fetch.output.status}}.',
    } as typeof conditionsSchema,
    combine: combineSchema,
    max_iterations: Type.Integer({
      title: 'Most iterations',
      description: 'After so many it ends although the conditions do not hold.',
      minimum: 1,
      maximum: 10_000,
      default: 100,
    }),
    on_limit: Type.Enum(['fail', 'continue'], {
      type: 'string',
      title: 'At the limit',
      description:
        'fail: it fails with max_iterations_reached. continue: the workflow goes on, and `done` is false.',
      default: 'fail',
    }),
    result: Type.Unsafe<JsonValue>({
      title: 'Result of an iteration',
      description:
        'What the next iteration sees as {{item}} and the output as `last`, with templates that may read the nodes inside. When null: the output of the last node inside, of several an object by node id.',
      default: null,
    }),
  },
  required: ['until'],
  deferred: { until: 'iteration', result: 'iteration' },
  examples: [
    {
      title: 'Three times',
      config: { until: [{ left: '{{index}}', operator: 'equals', right: 2 }], result: 'round {{index}}' },
      expect: { output: { iterations: 3, last: 'round 2', done: true } },
    },
    {
      title: 'Give up without failing',
      config: {
        until: [{ left: '{{trigger.data.ready}}', operator: 'is_true' }],
        max_iterations: 2,
        on_limit: 'continue',
        result: '{{index}}',
      },
      trigger: { ready: false },
      expect: { output: { iterations: 2, last: 1, done: false } },
    },
    {
      title: 'Fail when it takes too long',
      config: { until: [{ left: '{{item}}', operator: 'equals', right: 'done' }], max_iterations: 5 },
      expect: { failure: { code: 'max_iterations_reached' } },
    },
  ],
  loop: {
    begin: ({ max_iterations: maxIterations, on_limit: onLimit }) => ({
      items: null,
      maxIterations,
      concurrency: 1,
      onItemError: 'fail',
      onLimit,
    }),
    isDone: ({ until, combine }) => combinedHold(until, combine),
  },
  run: () => {
    throw new Error('the engine runs loops');
  },
});
