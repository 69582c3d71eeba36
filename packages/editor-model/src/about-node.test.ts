import { type FlowNode, type JsonObject, parseJson } from '@millrace/engine';
import canvas from '@millrace/ui/i18n/en/canvas.json';
import i18next from 'i18next';
import { beforeAll, describe, expect, test } from 'vitest';
import { aboutNode } from './about-node.ts';

const texts = i18next.createInstance();
beforeAll(() =>
  texts.init({
    lng: 'en',
    resources: { en: { translation: { canvas } } },
    interpolation: { escapeValue: false },
  }),
);

const about = (type: string, config: JsonObject): string | null =>
  aboutNode({ id: 'a', type, data: { config } } as FlowNode, texts.t)?.whole ?? null;

describe('aboutNode', () => {
  test.each<[string, JsonObject, string]>([
    [
      'http.request',
      { method: 'POST', url: 'https://shop.example.com/orders/{{trigger.data.id}}' },
      'POST shop.example.com',
    ],
    ['http.request', { url: '{{vars.base}}/orders' }, 'GET {vars.base}/orders'],
    [
      'core.if',
      { conditions: [{ left: '{{trigger.data.total}}', operator: 'greater_than', right: 10 }] },
      'total > 10',
    ],
    [
      'core.filter',
      { conditions: [{ field: 'stock', operator: 'is_not_empty' }, { operator: 'exists' }] },
      'stock is not empty, …',
    ],
    ['core.set', { values: { a: 1, b: 2 } }, 'a, b'],
    ['wait.approval', { title: ' {{ trigger.data.title }} ' }, 'title'],
    ['core.for_each', { items: '{{nodes.fetch.output.rows}}' }, 'fetch.rows'],
    ['core.delay', { duration_ms: 7_200_000 }, '2 hours'],
    ['core.delay', { duration: { amount: 1, unit: 'minutes' } }, '1 minute'],
    ['trigger.schedule', { schedule: { type: 'every', every: 15, unit: 'minutes' } }, 'every 15 minutes'],
    ['email.send', { subject: 'Order\n {{trigger.data.id}}' }, 'Order {id}'],
  ])('%s %j', (type, config, expected) => {
    expect(about(type, config)).toBe(expected);
  });

  test.each<[string, JsonObject, string]>([
    [
      'core.if',
      {
        conditions: [
          { left: '{{nodes.call.output.body.customers[0].total_amount}}', operator: 'less_than', right: 9 },
        ],
      },
      '…[0].total_amount < 9',
    ],
    ['core.for_each', { items: '{{nodes.call.output.body.customers[0].orders}}' }, '…[0].orders'],
    ['core.for_each', { items: '{{trigger.data.body.orders}}' }, 'body.orders'],
    [
      'http.request',
      { url: 'https://api.internal.shop.example.com/{{nodes.call.output.body.path.of.the.order.to.read}}' },
      'GET api.internal.shop.example.com',
    ],
    [
      'email.send',
      { subject: 'Order {{nodes.call.output.body.customers[0].number}} of {{trigger.data.name}}' },
      'Order {…[0].number} of {name}',
    ],
    [
      'core.for_each',
      { items: '{{trigger.data.a_name_that_is_longer_than_a_node}}' },
      'a_name_that_is_longer_than_a_node',
    ],
  ])('cuts long paths at their start: %s %j', (type, config, expected) => {
    expect(aboutNode({ id: 'a', type, data: { config } } as FlowNode, texts.t)?.brief).toBe(expected);
  });

  test('shows a number beyond a double unchanged', () => {
    const config =
      '{"conditions":[{"left":"{{nodes.größe.output.id}}","operator":"equals","right":9007199254740993}]}';
    expect(about('core.if', parseJson(config) as JsonObject)).toBe('größe.id = 9007199254740993');
  });

  test("omits what it can't read", () => {
    for (const value of [null, [], {}, 7, '']) {
      expect(about('core.if', { conditions: value })).toBeNull();
      expect(about('trigger.schedule', { schedule: value })).toBeNull();
    }
    expect(about('core.code', { code: 'return 1' })).toBeNull();
    expect(about('constructor', {})).toBeNull();
  });

  test('shortens long text', () => {
    expect(about('sql.query', { query: 'x'.repeat(100_000) })?.length).toBeLessThan(200);
  });
});
