import { type JsonValue, Meter } from '@millrace/engine';
import { choice } from '@millrace/node-kit/choice';
import { checkedNode } from '@millrace/node-kit/define';
import { Type } from 'typebox';
import { areMet, combineSchema, conditionsSchema, findPatternFaults } from '../conditions.ts';

export const coreRepeat = checkedNode({
  type: 'core.repeat',
  title: 'Repeat',
  description:
    'Runs the nodes inside it repeatedly until the conditions are met. They can read `{{index}}` and, as `{{item}}`, the result of the previous iteration (nothing at first). Its output is the number of `iterations`, the result of the `last` one, and whether it is `done`.',
  icon: 'repeat',
  kind: 'loop',
  properties: {
    until: {
      ...conditionsSchema,
      title: 'Until',
      description:
        'Checked after each iteration. Templates can read the nodes inside, such as {{nodes.fetch.output.status}}.',
    } as typeof conditionsSchema,
    combine: combineSchema,
    max_iterations: Type.Integer({
      title: 'Maximum iterations',
      description: "The loop ends after this many iterations even if the conditions aren't met.",
      minimum: 1,
      maximum: 10_000,
      default: 100,
    }),
    on_limit: choice(
      'At the limit',
      'Fail: the loop fails with max_iterations_reached. Continue: the workflow continues, and `done` is false.',
      { fail: 'Fail', continue: 'Continue' },
      { default: 'fail' },
    ),
    result: Type.Unsafe<JsonValue>({
      title: 'Result per iteration',
      description:
        'The next iteration reads it as {{item}}; the output has it as `last`. Templates can read the nodes inside. Empty: the output of the last node inside; if there are several, an object by node ID.',
      default: null,
    }),
  },
  required: ['until'],
  findFaults: ({ until }) => findPatternFaults(until, '/until'),
  deferred: { until: 'iteration', result: 'iteration' },
  form: {
    main: ['until', 'combine'],
    sections: [
      { title: 'Result', fields: ['result'] },
      { title: 'Limits', fields: ['max_iterations', 'on_limit'] },
    ],
  },
  synonyms: ['loop', 'while', 'until', 'poll', 'pagination'],
  examples: [
    {
      title: 'Three times',
      config: { until: [{ left: '{{index}}', operator: 'equals', right: 2 }], result: 'round {{index}}' },
      expect: { output: { iterations: 3, last: 'round 2', done: true } },
    },
    {
      title: 'Stop at the limit without failing',
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
      title: 'Fail at the limit',
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
    isDone: ({ until, combine }) => areMet(until, combine, new Meter()),
  },
  run: () => {
    throw new Error('the engine runs loops');
  },
});
