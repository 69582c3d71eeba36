import { Meter, success } from '@millrace/engine';
import { checkedNode } from '@millrace/node-kit/define';
import { areMet, combineSchema, conditionsSchema, findPatternFaults } from '../conditions.ts';

export const coreIf = checkedNode({
  type: 'core.if',
  title: 'If',
  description: 'Takes the branch `true` if the conditions are met, otherwise `false`.',
  icon: 'split',
  kind: 'pure',
  properties: { conditions: conditionsSchema, combine: combineSchema },
  required: ['conditions'],
  handles: () => ['true', 'false'],
  findFaults: ({ conditions }) => findPatternFaults(conditions, '/conditions'),
  form: { main: ['conditions', 'combine'] },
  synonyms: ['condition', 'branch', 'filter', 'compare', 'else', 'decision'],
  examples: [
    {
      title: 'Handle large orders differently',
      config: { conditions: [{ left: '{{trigger.data.total}}', operator: 'greater_than', right: 1000 }] },
      trigger: { total: 1200 },
      expect: { output: { result: true }, handles: ['true'] },
    },
    {
      title: 'Any of several conditions',
      config: {
        combine: 'any',
        conditions: [
          { left: '{{trigger.data.country}}', operator: 'in', right: ['JP', 'KR'] },
          { left: '{{trigger.data.vip}}', operator: 'is_true' },
        ],
      },
      trigger: { country: 'FR' },
      expect: { output: { result: false }, handles: ['false'] },
    },
    {
      title: 'Due, or urgent by its subject',
      config: {
        combine: 'any',
        conditions: [
          { left: '{{trigger.data.due}}', operator: 'on_or_before', right: '{{now}}' },
          {
            left: '{{trigger.data.subject}}',
            operator: 'matches',
            right: '^(re: )?urgent',
            ignore_case: true,
          },
        ],
      },
      trigger: { due: '2999-01-01', subject: 'RE: Urgent request' },
      expect: { output: { result: true }, handles: ['true'] },
    },
  ],
  *run(config) {
    const result = yield* areMet(config.conditions, config.combine, new Meter());
    return success({ result }, { handles: [String(result)] });
  },
});
