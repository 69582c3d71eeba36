import {
  failure,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  Meter,
  success,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { choice } from '@millrace/node-kit/choice';
import { checkedNode } from '@millrace/node-kit/define';
import { Type } from 'typebox';
import { areMet, combineSchema, conditionsSchema, findPatternFaults } from '../conditions.ts';

const RESERVED = ['default', 'error'];
const NAME_PATTERN = '^[^{}]{1,64}$';

const casesSchema = Type.Array(
  Type.Object(
    {
      name: Type.String({
        title: 'Name',
        description:
          'The name of the handle to take if the conditions are met: 1 to 64 characters without braces, unique, not `default` or `error`.',
        pattern: NAME_PATTERN,
        default: 'case 1',
      }),
      conditions: conditionsSchema,
      combine: Type.Optional(combineSchema),
    },
    { title: 'Case', additionalProperties: false },
  ),
  {
    title: 'Cases',
    description: 'Checked in order.',
    minItems: 1,
    maxItems: 100,
    default: [{ name: 'case 1', conditions: [{ left: '', operator: 'is_not_empty' }] }],
  },
);

export const coreSwitch = checkedNode({
  type: 'core.switch',
  title: 'Switch',
  description: 'Takes the branch of the first case that matches (or of every one), otherwise `default`.',
  icon: 'route',
  kind: 'pure',
  properties: {
    cases: casesSchema,
    mode: choice(
      'Mode',
      'Whether to take only the first case that matches or all of them.',
      { first_match: 'First match', all_matches: 'All matches' },
      { default: 'first_match' },
    ),
  },
  required: ['cases'],
  handles: (config) => [...new Set([...caseNames(config), 'default'])],
  findFaults: ({ cases }) =>
    (isJsonArray(cases ?? null) ? (cases as readonly JsonValue[]) : []).flatMap((each, index) =>
      findPatternFaults(isJsonObject(each) ? each.conditions : undefined, `/cases/${index}/conditions`),
    ),
  form: { main: ['cases', 'mode'] },
  synonyms: ['case', 'branch', 'route', 'router', 'condition', 'multiple'],
  examples: [
    {
      title: 'By type of event',
      config: {
        cases: [
          {
            name: 'paid',
            conditions: [{ left: '{{trigger.data.event}}', operator: 'equals', right: 'paid' }],
          },
          {
            name: 'refund',
            conditions: [{ left: '{{trigger.data.event}}', operator: 'starts_with', right: 'refund' }],
          },
        ],
      },
      trigger: { event: 'refund.created' },
      expect: { output: { matched: ['refund'] }, handles: ['refund'] },
    },
    {
      title: 'No case matches',
      config: {
        cases: [
          {
            name: 'paid',
            conditions: [{ left: '{{trigger.data.event}}', operator: 'equals', right: 'paid' }],
          },
        ],
      },
      trigger: { event: 'lost' },
      expect: { output: { matched: [] }, handles: ['default'] },
    },
  ],
  *run(config) {
    const names = config.cases.map(({ name }) => name);
    const unfit = names.find((name, index) => RESERVED.includes(name) || names.indexOf(name) !== index);
    if (unfit !== undefined) {
      return failure('invalid_config', message('nodes.case_name', { name: unfit }));
    }
    const matched: string[] = [];
    const meter = new Meter();
    for (const { name, conditions, combine = 'all' } of config.cases) {
      if (!(yield* areMet(conditions, combine, meter))) continue;
      matched.push(name);
      if (config.mode === 'first_match') break;
    }
    return success({ matched }, { handles: matched.length === 0 ? ['default'] : matched });
  },
});

/** The names in a config that may be invalid: unusable names are dropped. */
function caseNames(config: JsonObject): string[] {
  const cases: unknown = config.cases;
  if (!Array.isArray(cases)) return [];
  return cases
    .map((each: unknown) =>
      typeof each === 'object' && each !== null && 'name' in each ? each.name : undefined,
    )
    .filter((name) => typeof name === 'string')
    .filter((name) => new RegExp(NAME_PATTERN, 'u').test(name) && !RESERVED.includes(name));
}
