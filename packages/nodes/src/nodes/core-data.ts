import { isJsonArray, Meter, success } from '@millrace/engine';
import { checkedNode } from '@millrace/node-kit/define';
import { dataProperties } from '../data/config.ts';
import { applySteps } from '../data/steps.ts';

export const coreData = checkedNode({
  type: 'core.data',
  title: 'Transform data',
  description:
    "Transforms lists, objects and text in steps, without code. Each step works on the result of the one before. The output is {data, count}: the result and, if it is a list, its number of items (otherwise empty). A step that can't process its data fails with invalid_data and says which item is wrong.",
  icon: 'table-properties',
  kind: 'pure',
  properties: dataProperties,
  required: ['data', 'steps'],
  form: { main: ['data', 'steps'] },
  synonyms: [
    'csv',
    'sort',
    'group',
    'aggregate',
    'sum',
    'join',
    'map',
    'array',
    'format',
    'date',
    'number',
    'unique',
  ],
  examples: [
    {
      title: 'Revenue by country',
      config: {
        data: '{{trigger.data.orders}}',
        steps: [
          {
            operation: 'aggregate',
            by: ['customer.country'],
            values: [
              { function: 'count', name: 'orders' },
              { function: 'sum', field: 'total', name: 'revenue' },
            ],
          },
          { operation: 'sort', by: [{ field: 'revenue', direction: 'desc' }] },
        ],
      },
      trigger: {
        orders: [
          { id: 1, total: 0.1, customer: { country: 'JP' } },
          { id: 2, total: 12.5, customer: { country: 'NZ' } },
          { id: 3, total: 0.2, customer: { country: 'JP' } },
        ],
      },
      expect: {
        output: {
          data: [
            { country: 'NZ', orders: 1, revenue: 12.5 },
            { country: 'JP', orders: 2, revenue: 0.3 },
          ],
          count: 2,
        },
      },
    },
    {
      title: 'Add customers to orders',
      config: {
        data: '{{trigger.data.orders}}',
        steps: [
          {
            operation: 'join',
            with: '{{trigger.data.customers}}',
            on: [{ left: 'customer_id', right: 'id' }],
            type: 'left',
            as: 'customer',
          },
          { operation: 'pick', fields: ['id', 'customer.name'] },
        ],
      },
      trigger: {
        orders: [
          { id: 1, customer_id: 7 },
          { id: 2, customer_id: 9 },
        ],
        customers: [{ id: '7', name: 'Ada' }],
      },
      expect: { output: { data: [{ id: 1, customer: { name: 'Ada' } }, { id: 2 }], count: 2 } },
    },
    {
      title: 'Readable amounts and dates',
      config: {
        data: '{{trigger.data}}',
        steps: [
          {
            operation: 'format_date',
            field: 'at',
            format: 'd MMMM yyyy, HH:mm',
            zone: 'Asia/Tokyo',
          },
          { operation: 'format_number', field: 'total', prefix: '$' },
        ],
      },
      trigger: { at: '2026-03-08T23:30:00Z', total: 1234.5 },
      expect: { output: { data: { at: '9 March 2026, 08:30', total: '$1,234.50' }, count: null } },
    },
    {
      title: 'Every tag once',
      config: {
        data: '{{trigger.data.posts}}',
        steps: [
          { operation: 'split', field: 'tags' },
          { operation: 'flatten', field: 'tags' },
          { operation: 'rename', fields: [{ from: 'tags', to: 'tag' }] },
          { operation: 'unique', by: ['tag'] },
        ],
      },
      trigger: {
        posts: [
          { id: 1, tags: 'tea, cake' },
          { id: 2, tags: 'cake, jam' },
        ],
      },
      expect: {
        output: {
          data: [
            { id: 1, tag: 'tea' },
            { id: 1, tag: 'cake' },
            { id: 2, tag: 'jam' },
          ],
          count: 3,
        },
      },
    },
    {
      title: 'Orders of each customer',
      config: {
        data: '{{trigger.data.orders}}',
        steps: [{ operation: 'group', by: ['customer'] }],
      },
      trigger: {
        orders: [
          { id: 1, customer: 'Ada' },
          { id: 2, customer: 'Bo' },
          { id: 3, customer: 'Ada' },
        ],
      },
      expect: {
        output: {
          data: [
            {
              key: { customer: 'Ada' },
              items: [
                { id: 1, customer: 'Ada' },
                { id: 3, customer: 'Ada' },
              ],
              count: 2,
            },
            { key: { customer: 'Bo' }, items: [{ id: 2, customer: 'Bo' }], count: 1 },
          ],
          count: 2,
        },
      },
    },
    {
      title: 'The top three, in pages of two',
      config: {
        data: '{{trigger.data.players}}',
        steps: [
          { operation: 'sort', by: [{ field: 'score', direction: 'desc' }] },
          { operation: 'limit', count: 3 },
          { operation: 'omit', fields: ['email'] },
          { operation: 'chunk', size: 2 },
        ],
      },
      trigger: {
        players: [
          { name: 'Ada', score: 7, email: 'ada@example.com' },
          { name: 'Bo', score: 9, email: 'bo@example.com' },
          { name: 'Cy', score: 2, email: 'cy@example.com' },
          { name: 'Di', score: 8, email: 'di@example.com' },
        ],
      },
      expect: {
        output: {
          data: [
            [
              { name: 'Bo', score: 9 },
              { name: 'Di', score: 8 },
            ],
            [{ name: 'Ada', score: 7 }],
          ],
          count: 2,
        },
      },
    },
    {
      title: "A sum of values that aren't numbers",
      config: {
        data: [{ price: 2 }, { price: '12,50' }],
        steps: [{ operation: 'aggregate', values: [{ function: 'sum', field: 'price' }] }],
      },
      expect: { failure: { code: 'invalid_data' } },
    },
  ],
  *run({ data, steps }, { timezone }) {
    const result = yield* applySteps(data, steps, { timezone, meter: new Meter() });
    return success({ data: result, count: isJsonArray(result) ? result.length : null });
  },
});
