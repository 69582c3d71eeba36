import type { JsonObject } from '@millrace/engine';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FIELD_TYPES, fieldsOfSchema, withFields } from './schema-fields.ts';

test('reads members, and which of them are required', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: { order: { type: 'integer', description: 'Its number' }, note: { type: 'string' } },
    required: ['order'],
    additionalProperties: false,
  };
  const fields = fieldsOfSchema(schema);
  expect(fields).toEqual([
    { name: 'order', type: 'integer', description: 'Its number', isRequired: true },
    { name: 'note', type: 'string', description: '', isRequired: false },
  ]);
  expect(withFields(schema, fields ?? [])).toEqual(schema);
  expect(fieldsOfSchema({})).toEqual([]);
});

test.each<JsonObject>([
  { type: 'array' },
  { minProperties: 1 },
  { properties: { a: { type: 'string', minLength: 1 } } },
  { properties: { a: { type: ['string', 'null'] } } },
  { properties: { a: true } },
  { required: ['a'] },
  { additionalProperties: { type: 'string' } },
  { anyOf: [{ type: 'object' }] },
])('%j says more than a list of members can', (schema) => {
  expect(fieldsOfSchema(schema)).toBeNull();
});

test('reads a list of members the same way', () => {
  const field = fc.record({
    name: fc.string({ minLength: 1 }).filter((name) => name !== '__proto__'),
    type: fc.constantFrom(...FIELD_TYPES),
    description: fc.string(),
    isRequired: fc.boolean(),
  });
  const fields = fc.uniqueArray(field, { selector: ({ name }) => name });
  fc.assert(
    fc.property(fields, (each) => {
      const read = fieldsOfSchema(withFields({ additionalProperties: false }, each)) ?? [];
      const byName = (all: typeof each) => all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      expect(byName([...read])).toEqual(byName(each));
    }),
  );
});
