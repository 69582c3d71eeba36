import { failure, type JsonValue } from '@millrace/engine';
import { message } from '@millrace/messages';
import { choice } from '@millrace/node-kit/choice';
import { checkedNode } from '@millrace/node-kit/define';
import { Type } from 'typebox';

const MAX_ITEMS = 100_000;

export const coreForEach = checkedNode({
  type: 'core.for_each',
  title: 'For each',
  description:
    'Runs the nodes inside it once for each item of a list. They can read `{{item}}` and `{{index}}`. Its output is `items`, the results in the order of the list, and `errors`.',
  icon: 'list-ordered',
  kind: 'loop',
  properties: {
    items: Type.Array(Type.Unsafe<JsonValue>({}), {
      title: 'Items',
      description: `The list, usually a template such as {{trigger.data.rows}}. At most ${MAX_ITEMS.toLocaleString('en')} items.`,
      default: [],
      'x-filled': true,
    }),
    concurrency: Type.Integer({
      title: 'Concurrency',
      description: 'How many items to process at the same time.',
      minimum: 1,
      maximum: 100,
      default: 1,
    }),
    on_item_error: choice(
      'When an item fails',
      'Fail: the loop fails, and everything else in it is aborted. Collect: the other items continue; its place in `items` stays empty, and `errors` has its index, code, message and node_id.',
      { fail: 'Fail', collect: 'Collect' },
      { default: 'fail' },
    ),
    result: Type.Unsafe<JsonValue>({
      title: 'Result per item',
      description:
        'What goes into `items`. Templates can read the nodes inside, such as {{nodes.fetch.output.body}}. Empty: the output of the last node inside; if there are several, an object by node ID.',
      default: null,
    }),
  },
  required: ['items'],
  deferred: { result: 'iteration' },
  form: {
    main: ['items'],
    sections: [
      { title: 'Result', fields: ['result'] },
      { title: 'Errors and speed', fields: ['on_item_error', 'concurrency'] },
    ],
  },
  synonyms: ['loop', 'iterate', 'map', 'array', 'rows', 'batch', 'split'],
  examples: [
    {
      title: 'Process every row of a list',
      config: {
        items: '{{trigger.data.rows}}',
        concurrency: 20,
        on_item_error: 'collect',
        result: 'row {{index}}: {{item.id}}',
      },
      trigger: { rows: [{ id: 17 }, { id: 18 }] },
      expect: { output: { items: ['row 0: 17', 'row 1: 18'], errors: [] } },
    },
    {
      title: "Keep only what's needed of each item",
      config: { items: ['a', 'b'], result: '{{item | upper}}' },
      expect: { output: { items: ['A', 'B'], errors: [] } },
    },
    {
      title: "A value that isn't a list",
      config: { items: '{{trigger.data}}' },
      trigger: { rows: [] },
      expect: { failure: { code: 'invalid_config' } },
    },
  ],
  loop: {
    begin({ items, concurrency, on_item_error: onItemError }) {
      if (items.length > MAX_ITEMS) {
        const said = message('nodes.too_many_items', { items: items.length, max: MAX_ITEMS });
        return failure('too_many_items', said);
      }
      return { items, maxIterations: items.length, concurrency, onItemError };
    },
  },
  run: () => {
    throw new Error('the engine runs loops');
  },
});
