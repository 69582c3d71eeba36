import { type JsonObject, parseJson } from '@millrace/engine';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  applies,
  initialOf,
  isNullable,
  type NamedField,
  type Schema,
  shapeOf,
  variantOf,
  withLanguage,
} from './field-shape.ts';

const BEARER: Schema = {
  type: 'object',
  title: 'Bearer',
  properties: { type: { const: 'bearer' }, token: { type: 'string' } },
  required: ['type', 'token'],
};
const NONE: Schema = { type: 'object', properties: { type: { const: 'none' } }, required: ['type'] };

describe('shapeOf', () => {
  test.each<[string, Schema, object]>([
    ['text', { type: 'string' }, { kind: 'text', isMultiline: false, code: null }],
    ['long text', { type: 'string', 'x-multiline': true }, { kind: 'text', isMultiline: true }],
    ['code', { type: 'string', 'x-code': 'sql' }, { kind: 'text', code: 'sql' }],
    ['JSON code of an object', { type: 'object', 'x-code': 'json' }, { kind: 'any', code: 'json' }],
    [
      'an integer with limits',
      { type: 'integer', minimum: 1, maximum: 9 },
      { kind: 'number', min: 1, max: 9 },
    ],
    [
      'a choice, in words where there are some',
      { type: 'string', enum: ['is_empty', 'b'], 'x-labels': { b: 'the second' } },
      {
        kind: 'choice',
        options: [
          { value: 'is_empty', label: 'is empty' },
          { value: 'b', label: 'the second' },
        ],
      },
    ],
    ['a choice of one is none', { type: 'string', enum: ['a'] }, { kind: 'constant', value: 'a' }],
    [
      'constants are a choice',
      { anyOf: [{ const: 'a' }, { const: 'b' }] },
      {
        kind: 'choice',
        options: [
          { value: 'a', label: 'a' },
          { value: 'b', label: 'b' },
        ],
      },
    ],
    ['a text with a form of its own', { type: 'string', 'x-time-zone': true }, { helper: 'time-zone' }],
    [
      'what may be null is what it else is',
      { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      { kind: 'number' },
    ],
    [
      'hints beside an anyOf hold',
      { anyOf: [{ type: 'integer' }, { type: 'null' }], 'x-credential': ['ai'] },
      { kind: 'credential', types: ['ai'], dialects: null },
    ],
    [
      'members of one name',
      { type: 'object', properties: { a: {} }, required: ['a'] },
      { kind: 'group', fields: [{ name: 'a', isRequired: true }] },
    ],
    [
      'members of any name',
      { type: 'object', additionalProperties: { type: 'string' } },
      { kind: 'record', member: { type: 'string' } },
    ],
    ['a list', { type: 'array', items: { type: 'number' } }, { kind: 'list', item: { type: 'number' } }],
    [
      'several shapes, told apart by a constant',
      { anyOf: [NONE, BEARER] },
      { kind: 'variants', key: 'type' },
    ],
    [
      'several shapes, told apart by a choice of one; the word for it is their title',
      {
        anyOf: ['node', 'workflow'].map((kind) => ({
          type: 'object',
          properties: { kind: { type: 'string', enum: [kind], 'x-labels': { [kind]: `a ${kind}` } } },
        })),
      },
      { kind: 'variants', key: 'kind', variants: [{ title: 'a node' }, { title: 'a workflow' }] },
    ],
    [
      'several shapes, told apart by type',
      { anyOf: [{ type: 'string' }, { type: 'array' }] },
      { kind: 'variants', key: null },
    ],
    [
      'several types at once',
      { type: ['string', 'object'], 'x-multiline': true },
      { kind: 'any', isMultiline: true },
    ],
    ['anything', {}, { kind: 'any' }],
  ])('%s', (_what, schema, shape) => {
    expect(shapeOf(schema)).toMatchObject(shape);
  });

  test('a list that may be text or null: both are offered, and null means omitting it', () => {
    const schema: Schema = { anyOf: [{ type: 'string' }, { type: 'array' }, { type: 'null' }] };
    const shape = shapeOf(schema);
    expect(shape.kind === 'variants' && shape.variants.map(({ name }) => name)).toEqual(['string', 'array']);
    expect(isNullable(schema)).toBe(true);
  });
});

describe('variantOf', () => {
  const byKey = shapeOf({ anyOf: [NONE, BEARER] });
  const byType = shapeOf({ anyOf: [{ type: 'string' }, { type: 'integer' }] });

  test.each([
    [byKey, { type: 'bearer', token: 'x' }, 'bearer'],
    [byKey, undefined, 'none'],
    [byKey, { type: 'gone' }, 'none'],
    [byKey, 'text', 'none'],
    [byType, 5, 'integer'],
    [byType, 'text', 'string'],
    [byType, parseJson('9007199254740993'), 'integer'],
  ])('%#', (shape, value, name) => {
    if (shape.kind !== 'variants') throw new Error('it has variants');
    expect(variantOf(shape, value).name).toBe(name);
  });
});

describe('initialOf', () => {
  test('fills in required members, and no credential', () => {
    expect(initialOf(BEARER)).toEqual({ type: 'bearer', token: '' });
    const withCredential: Schema = {
      type: 'object',
      properties: {
        kind: { const: 'x' },
        id: { type: 'integer', 'x-credential': ['ai'] },
        n: { type: 'number', default: 7 },
      },
      required: ['kind', 'id', 'n'],
    };
    expect(initialOf(withCredential)).toEqual({ kind: 'x', n: 7 });
  });

  test('a new value has the shape and variant it was created for, whatever the schema', () => {
    const leaf = fc.constantFrom<Schema>(
      { type: 'string' },
      { type: 'integer', minimum: 3 },
      { type: 'boolean' },
      { type: 'array', items: {} },
      { enum: ['p', 'q'] },
      {},
    );
    const schema = fc.letrec<{ schema: Schema }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map(
          (members): Schema => ({
            anyOf: members.map((member, index) => ({
              type: 'object',
              properties: { kind: { const: `k${index}` }, member },
              required: ['kind', 'member'],
            })),
          }),
        ),
      ),
    })).schema;
    fc.assert(
      fc.property(schema, (each) => {
        const shape = shapeOf(each);
        const value = initialOf(each);
        if (shape.kind === 'variants') {
          for (const variant of shape.variants) {
            expect(variantOf(shape, initialOf(variant.schema))).toBe(variant);
          }
        }
        expect(JSON.parse(JSON.stringify(value))).toEqual(value);
      }),
    );
  });
});

test('the language of code follows the member that names it', () => {
  const schema = { type: 'string', 'x-code': 'javascript', 'x-code-by': 'language' };
  expect(shapeOf(withLanguage(schema, { language: 'python' }))).toMatchObject({ code: 'python' });
  expect(shapeOf(withLanguage(schema, {}))).toMatchObject({ code: 'javascript' });
  expect(shapeOf(withLanguage(schema, { language: '{{vars.l}}' }))).toMatchObject({ code: null });
});

describe('applies', () => {
  const fields: NamedField[] = [
    { name: 'how', schema: { enum: ['plain', 'own'], default: 'plain' }, isRequired: false },
    { name: 'header', schema: { type: 'string', 'x-when': { how: ['own'] } }, isRequired: false },
  ];
  test.each<[JsonObject, string[]]>([
    [{}, ['how']],
    [{ how: 'own' }, ['how', 'header']],
    [{ how: 'plain', header: 'left over' }, ['how', 'header']],
    [{ how: '{{trigger.data.how}}' }, ['how', 'header']],
  ])('%j', (value, names) => {
    expect(fields.filter((field) => applies(field, value, fields)).map(({ name }) => name)).toEqual(names);
  });
});
