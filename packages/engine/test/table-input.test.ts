import { stringifyJson } from '@millrace/values/json';
import { expect, test } from 'vitest';
import { inputOfRow, inputPropertiesOf, undeclaredProperty } from '../src/table-input.ts';

const SCHEMA = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', title: 'Name' },
    amount: { type: 'number' },
    count: { type: ['integer', 'null'] },
    paid: { type: 'boolean' },
    tags: { type: 'array' },
    address: { type: 'object' },
    code: {},
  },
};

const read = (...cells: string[]) => stringifyJson(inputOfRow(cells, inputPropertiesOf(SCHEMA)));

test('cells become values of the declared types, exactly', () => {
  expect(read('007', '0.1234567890123456789', '9007199254740993', 'TRUE', '["a"]', '{"zip":"1"}', '1')).toBe(
    '{"name":"007","amount":0.1234567890123456789,"count":9007199254740993,"paid":true,"tags":["a"],"address":{"zip":"1"},"code":"1"}',
  );
  expect(read('a', ' 12 ', '', '0')).toBe('{"name":"a","amount":12,"paid":false}');
});

test('what is not of its type stays a string for the schema to refuse', () => {
  expect(read('a', '1,5', '1.5.2', 'maybe', 'x', '[]')).toBe(
    '{"name":"a","amount":"1,5","count":"1.5.2","paid":"maybe","tags":"x","address":"[]"}',
  );
});

test('ignored columns, missing cells and unusual names', () => {
  const columns = [undeclaredProperty('__proto__'), null, undeclaredProperty('b')];
  expect(stringifyJson(inputOfRow(['1', '2'], columns))).toBe('{"__proto__":"1"}');
});

test('a schema that declares no members has none', () => {
  expect([null, {}, { properties: [] }].map((schema) => inputPropertiesOf(schema))).toEqual([[], [], []]);
  expect(inputPropertiesOf(SCHEMA)[0]).toEqual({
    name: 'name',
    title: 'Name',
    types: ['string'],
    isRequired: true,
  });
});
