import { compileFunction } from 'node:vm';
import { findProblems, type JsonObject } from '@millrace/engine';
import { registry } from '@millrace/nodes';
import { describe, expect, it } from 'vitest';
import { asText } from '../read.ts';
import { configOf, flowOf, n8n, outcomeOf, read, START } from '../testing.ts';

function imported(type: string, parameters: JsonObject) {
  const item = {
    type: 'set',
    version: 3.4,
    parameters: { mode: 'raw', jsonOutput: '{"id": 1, "name": "Ada"}' },
  };
  return read(
    n8n({ Start: START, Item: item, Store: { type, parameters } }, [
      ['Start', 'Item'],
      ['Item', 'Store'],
    ]),
  );
}

describe("n8n's Kafka", () => {
  it('sends the item, or a text, with key and headers', () => {
    const whole = imported('kafka', { topic: 'orders' });
    expect(configOf(whole, 'Store')).toEqual({
      credential_id: 0,
      topic: 'orders',
      messages: ['{{nodes.item.output}}'],
    });
    const text = imported('kafka', {
      ...{ topic: 'orders', sendInputData: false, message: '=of {{ $json.name }}', useKey: true },
      key: '={{ $json.id }}',
      headersUi: { headerValues: [{ key: 'kind', value: 'order' }] },
    });
    expect(configOf(text, 'Store')).toMatchObject({
      messages: ['of {{nodes.item.output.name}}'],
      key: '{{nodes.item.output.id | string}}',
      headers: { kind: 'order' },
    });
    expect(outcomeOf(imported('kafka', { topic: 'a', useSchemaRegistry: true }), 'Store')?.kind).toBe(
      'dropped',
    );
  });
});

describe("n8n's Redis", () => {
  it.each<[JsonObject, JsonObject]>([
    [
      { operation: 'get', key: 'a', propertyName: 'x' },
      { operation: 'get', key: 'a' },
    ],
    [
      { operation: 'get', key: 'a', keyType: 'hash' },
      { operation: 'hash_get', key: 'a' },
    ],
    [
      { operation: 'set', key: '={{ $json.id }}', value: '={{ $json.name }}', expire: true, ttl: 5 },
      {
        operation: 'set',
        key: '{{nodes.item.output.id | string}}',
        value: '{{nodes.item.output.name}}',
        expires_in_s: 5,
      },
    ],
    [
      { operation: 'incr', key: 'n' },
      { operation: 'increment', key: 'n' },
    ],
    [
      { operation: 'delete', key: 'a' },
      { operation: 'delete', keys: ['a'] },
    ],
    [
      { operation: 'keys', keyPattern: 'a*', getValues: false },
      { operation: 'keys', pattern: 'a*' },
    ],
    [
      { operation: 'push', list: 'l', messageData: 'x', tail: true },
      { operation: 'list_push', key: 'l', side: 'right', values: ['x'] },
    ],
    [
      { operation: 'pop', list: 'l' },
      { operation: 'list_pop', key: 'l', side: 'left' },
    ],
    [
      { operation: 'publish', channel: 'c', messageData: 'x' },
      { operation: 'publish', key: 'c', value: 'x' },
    ],
  ])('%o', (parameters, config) => {
    const result = imported('redis', parameters);
    expect(configOf(result, 'Store')).toMatchObject({ credential_id: 0, ...config });
    const problems = findProblems(flowOf(result), registry).map(({ code }) => code);
    expect(problems.filter((code) => code !== 'empty_config')).toEqual([]);
  });

  it.each([
    { operation: 'info' },
    { operation: 'set', key: 'a', value: 'x', keyType: 'sets' },
    { operation: 'keys', keyPattern: '*' },
  ])('is dropped otherwise: %o', (parameters) => {
    expect(JSON.stringify(outcomeOf(imported('redis', parameters), 'Store'))).toContain('dropped');
  });
});

describe("n8n's MongoDB", () => {
  it.each<[JsonObject, JsonObject]>([
    [
      {
        operation: 'find',
        collection: 'c',
        query: '{"name": "Ada"}',
        options: { limit: 5, sort: '{"id": -1}' },
      },
      { operation: 'find', filter: { name: 'Ada' }, limit: 5, sort: { id: -1 } },
    ],
    [
      { operation: 'aggregate', collection: 'c', query: '[{"$match": {}}]' },
      { operation: 'aggregate', pipeline: [{ $match: {} }] },
    ],
    [
      { operation: 'delete', collection: 'c', query: '{"id": 1}' },
      { operation: 'delete', filter: { id: 1 }, many: true },
    ],
    [
      { operation: 'insert', collection: 'c', fields: 'id, name' },
      {
        operation: 'insert',
        documents: [{ id: '{{nodes.item.output.id}}', name: '{{nodes.item.output.name}}' }],
      },
    ],
    [
      { operation: 'update', collection: 'c', updateKey: 'id', fields: 'id,name', upsert: true },
      {
        operation: 'update',
        filter: { id: '{{nodes.item.output.id}}' },
        update: { $set: { name: '{{nodes.item.output.name}}' } },
        upsert: true,
      },
    ],
    [
      { operation: 'update', collection: 'c', updateKey: '=id', fields: '=name' },
      {
        filter: { id: '{{nodes.item.output.id}}' },
        update: { $set: { name: '{{nodes.item.output.name}}' } },
      },
    ],
    [
      { operation: 'insert', collection: 'c', fields: '={{ Object.keys($json).join(",") }}' },
      { operation: 'insert', documents: ['{{nodes.store_values.output.result.value_1}}'] },
    ],
  ])('%o', (parameters, config) => {
    const result = imported('mongoDb', parameters);
    expect(configOf(result, 'Store')).toMatchObject({ credential_id: 0, collection: 'c', ...config });
    const problems = findProblems(flowOf(result), registry).map(({ code }) => code);
    expect(problems.filter((code) => code !== 'empty_config')).toEqual([]);
  });
});

it('MongoDB fields that an expression names are picked from the item', async () => {
  const result = imported('mongoDb', {
    operation: 'update',
    collection: 'c',
    updateKey: 'id',
    fields: "={{ Object.keys($json).join(', ') }}",
  });
  const { code } = configOf(result, 'Store: values') ?? {};
  const compiled = compileFunction(asText(code), ['input']);
  expect(compiled({ json: { id: 1, name: 'Ada', at: 2 } })).toEqual({ value_1: { name: 'Ada', at: 2 } });
});
