import { failure, isJsonArray, type JsonValue, Meter, readField, success } from '@millrace/engine';
import { message } from '@millrace/messages';
import { checkedNode } from '@millrace/node-kit/define';
import { typeName } from '@millrace/node-kit/values';
import { Type } from 'typebox';
import {
  combined,
  combineSchema,
  findPatternFaults,
  ignoreCaseSchema,
  operatorSchema,
  rightSchema,
  testOf,
} from '../conditions.ts';

export const coreFilter = checkedNode({
  type: 'core.filter',
  title: 'Filter a list',
  description:
    'Keeps the items of a list that match. Takes the branch `out` if any remain, otherwise `empty`.',
  icon: 'list-filter',
  kind: 'pure',
  properties: {
    items: Type.Unsafe<JsonValue>({
      title: 'Items',
      description: 'The list, usually a template such as {{trigger.data.items}}.',
      default: [],
      'x-filled': true,
    }),
    conditions: Type.Array(
      Type.Object(
        {
          field: Type.Optional(
            Type.String({
              title: 'Field',
              description:
                'Dotted path into the item, such as address.city or tags.0. Empty: the item itself.',
              default: '',
            }),
          ),
          operator: operatorSchema,
          right: rightSchema,
          ignore_case: ignoreCaseSchema,
        },
        { additionalProperties: false },
      ),
      {
        title: 'Conditions',
        description: 'The conditions that an item must meet to be kept.',
        minItems: 1,
        maxItems: 100,
        default: [{ field: '', operator: 'is_not_empty' }],
      },
    ),
    combine: combineSchema,
  },
  required: ['items', 'conditions'],
  handles: () => ['out', 'empty'],
  findFaults: ({ conditions }) => findPatternFaults(conditions, '/conditions'),
  form: { main: ['items', 'conditions', 'combine'] },
  synonyms: ['where', 'select', 'rows', 'array', 'condition'],
  examples: [
    {
      title: "Keep what's in stock",
      config: {
        items: '{{trigger.data.items}}',
        conditions: [{ field: 'stock', operator: 'greater_than', right: 0 }],
      },
      trigger: {
        items: [
          { sku: 'a', stock: 3 },
          { sku: 'b', stock: 0 },
        ],
      },
      expect: { output: { items: [{ sku: 'a', stock: 3 }], count: 1, rejected_count: 1 }, handles: ['out'] },
    },
    {
      title: 'Nothing remains',
      config: { items: ['', null], conditions: [{ field: '', operator: 'is_not_empty' }] },
      expect: { output: { items: [], count: 0, rejected_count: 2 }, handles: ['empty'] },
    },
    {
      title: 'Not a list',
      config: { items: '{{trigger.data.items}}', conditions: [{ operator: 'exists' }] },
      trigger: { items: { sku: 'a' } },
      expect: { failure: { code: 'not_a_list' } },
    },
  ],
  *run({ items, conditions, combine }) {
    if (!isJsonArray(items)) {
      return failure(
        'not_a_list',
        message('nodes.items_not_list', { given: typeName(items), example: '{{trigger.data.items}}' }),
      );
    }
    const tests = conditions.map(({ field = '', ...condition }) => ({ field, test: testOf(condition) }));
    const meter = new Meter();
    const kept: JsonValue[] = [];
    for (const item of items) {
      const isPassed = ({ field, test }: (typeof tests)[number]) => test(readField(item, field), meter);
      if (yield* combined(tests, isPassed, combine, meter)) kept.push(item);
    }
    const output = { items: kept, count: kept.length, rejected_count: items.length - kept.length };
    return success(output, { handles: [kept.length > 0 ? 'out' : 'empty'] });
  },
});
