import { findProblems, type JsonObject, type JsonValue } from '@millrace/engine';
import { inEnglish } from '@millrace/messages/english';
import { describe, expect, test } from 'vitest';
import { triggerForm } from '../trigger-form.ts';
import { type FormOfSchema, formOfSchema, inputOfValues, type SchemaForm } from './from-schema.ts';
import { readFields } from './read-fields.ts';

const schemaOf = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required,
});

function formOf(schema: JsonObject): SchemaForm {
  const described = formOfSchema(schema);
  if (described.kind === 'none') throw new Error(faultsIn(described).join());
  return described.form;
}

function faultsIn(described: FormOfSchema): readonly string[] {
  return described.kind === 'form' ? [] : described.faults.map((fault) => inEnglish(fault));
}

/** The only field of a form, and what is entered in it beforehand. */
function fieldOf(member: JsonValue, isRequired = false, others: JsonObject = {}) {
  const { fields, members } = formOf({ ...schemaOf({ a: member }, isRequired ? ['a'] : []), ...others });
  return { ...fields[0], preset: members.get('a')?.preset };
}

const FILE = { type: 'object', properties: { $file: { type: 'string' } }, required: ['$file'] };

describe('what a member of the schema asks for', () => {
  test.each<[string, JsonValue, JsonObject]>([
    ['a text', { type: 'string' }, { type: 'text', label: 'a', required: false }],
    ['a long text', { type: 'string', 'x-multiline': true }, { type: 'paragraph' }],
    [
      'its title and description',
      { type: 'string', title: 'Your name', description: 'In full.' },
      { label: 'Your name', help: 'In full.' },
    ],
    ['an address', { type: 'string', format: 'email' }, { type: 'email' }],
    [
      'a date',
      { type: 'string', format: 'date', default: '2026-12-01' },
      { type: 'date', preset: ['2026-12-01'] },
    ],
    ['a number', { type: 'number', default: 2.5 }, { type: 'number', preset: ['2.5'] }],
    ['a whole number', { type: 'integer' }, { type: 'number' }],
    ['yes or no', { type: 'boolean', default: true }, { type: 'checkbox', preset: ['on'], required: false }],
    ['consent', { type: 'boolean', const: true }, { type: 'checkbox', required: true }],
    [
      'a choice',
      { type: 'string', enum: ['small', 'large'], default: 'large' },
      { type: 'choice', choices: ['small', 'large'], preset: ['large'] },
    ],
    ['a choice of numbers', { enum: [1, 2] }, { type: 'choice', choices: ['1', '2'] }],
    [
      'a choice with titles',
      { oneOf: [{ const: 's', title: 'Small' }, { const: 'l' }] },
      { type: 'choice', choices: ['Small', 'l'] },
    ],
    [
      'several choices',
      { type: 'array', items: { enum: ['a', 'b'] }, default: ['b'] },
      { type: 'choices', choices: ['a', 'b'], preset: ['b'] },
    ],
    [
      'a file',
      { ...FILE, contentMediaType: '.pdf, image/*' },
      { type: 'file', accept: '.pdf, image/*', multiple: false },
    ],
    ['files', { type: 'array', items: FILE }, { type: 'file', multiple: true }],
    ['what may be null', { type: ['string', 'null'] }, { type: 'text', required: false }],
    [
      'an alternative to null',
      { anyOf: [{ type: 'integer' }, { type: 'null' }], title: 'Age' },
      { type: 'number', label: 'Age' },
    ],
    [
      'a definition',
      { $ref: '#/$defs/Size', title: 'Which?' },
      { type: 'choice', choices: ['s', 'l'], label: 'Which?' },
    ],
  ])('%s', (_name, member, expected) => {
    expect(fieldOf(member, false, { $defs: { Size: { enum: ['s', 'l'] } } })).toMatchObject(expected);
  });

  test.each<[string, JsonValue, boolean]>([
    ['a text', { type: 'string' }, true],
    ['a text that may be null', { type: ['string', 'null'] }, false],
    ['a number', { type: 'number' }, true],
    ['yes or no', { type: 'boolean' }, false],
    ['a list of choices', { type: 'array', items: { enum: ['a'] } }, false],
    ['a list of at least one choice', { type: 'array', items: { enum: ['a'] }, minItems: 1 }, true],
    ['a file', FILE, true],
    ['a list of files', { type: 'array', items: FILE }, false],
  ])('that requires %s has to be filled in: %j %j', (_name, member, isRequired) => {
    expect(fieldOf(member, true).required).toBe(isRequired);
  });
});

describe('no field for', () => {
  test.each<[string, JsonValue]>([
    ['an object', { type: 'object', properties: { city: { type: 'string' } } }],
    ['a list of texts', { type: 'array', items: { type: 'string' } }],
    ['anything', {}],
    ['anything, shorter', true],
    ['two types', { type: ['string', 'number'] }],
    ['choices between objects', { enum: [{ a: 1 }] }],
    ['choices that look the same', { enum: [1, '1'] }],
    ['a definition that is missing', { $ref: '#/$defs/Nowhere' }],
    ['a definition that is itself', { $ref: '#/$defs/Self' }],
    ['a list of itself', { $ref: '#/$defs/Lists' }],
    ['a choice that is blank', { enum: ['a', '  '] }],
    ['a definition elsewhere', { $ref: 'https://example.com/schema' }],
  ])('%s', (_name, member) => {
    const schema = {
      ...schemaOf({ fine: { type: 'string' }, a: member }),
      $defs: {
        Self: { $ref: '#/$defs/Self' },
        Lists: { type: 'array', items: { $ref: '#/$defs/Lists' } },
      },
    };
    expect(faultsIn(formOfSchema(schema))).toEqual([expect.stringContaining('"a"')]);
  });

  test.each<[string, JsonObject, string]>([
    ['nothing', {}, "so is the workflow's input schema"],
    ['a name of the form itself', schemaOf({ _page: { type: 'string' } }), 'names have letters'],
    ['what is only required', schemaOf({ a: { type: 'string' } }, ['b']), '"b"'],
    [
      'too many values',
      schemaOf(Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`v${n}`, { type: 'string' }]))),
      '101 values',
    ],
    [
      'too many choices',
      schemaOf({ a: { enum: Array.from({ length: 201 }, (_, n) => `c${n}`) } }),
      '201 choices',
    ],
    ['a long name', schemaOf({ ['n'.repeat(101)]: { type: 'string' } }), 'at most 100 characters'],
    [
      'a long title',
      schemaOf({ a: { type: 'string', title: 't'.repeat(201) } }),
      'title of "a" in the input schema has more than 200',
    ],
    [
      'a long description',
      schemaOf({ a: { type: 'string', description: 'd'.repeat(1_001) } }),
      'description of "a" in the input schema has more than 1000',
    ],
    [
      'a long preset value',
      schemaOf({ a: { type: 'string', default: 'd'.repeat(10_001) } }),
      'default of "a" in the input schema has more than 10000',
    ],
    [
      'many accepted files',
      schemaOf({ a: { ...FILE, contentMediaType: 'x'.repeat(201) } }),
      'contentMediaType of "a" in the input schema has more than 200',
    ],
    ['a long choice', schemaOf({ a: { enum: ['c'.repeat(201)] } }), 'a choice of "a"'],
    [
      'a long title of a choice',
      schemaOf({ a: { oneOf: [{ const: 1, title: 'c'.repeat(201) }] } }),
      'a choice of "a"',
    ],
    [
      'much text in all',
      {
        ...schemaOf(
          Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`v${n}`, { $ref: '#/$defs/Wide' }])),
        ),
        $defs: { Wide: { enum: Array.from({ length: 200 }, (_, n) => `${n}`.padEnd(200, 'x')) } },
      },
      'in all; a form shows at most 1048576',
    ],
  ])('%s', (_name, schema, expected) => {
    expect(faultsIn(formOfSchema(schema))).toEqual([expect.stringContaining(expected)]);
  });
});

describe('what many values refer to', () => {
  const manyOf = (definition: JsonObject, more: JsonObject = {}) => ({
    ...schemaOf(
      Object.fromEntries(
        Array.from({ length: 100 }, (_, n) => [`v${n}`, { $ref: '#/$defs/Shared', ...more }]),
      ),
    ),
    $defs: { Shared: definition },
  });
  /** A list that counts how many of its values are looked at. */
  const counted = (length: number, make: (index: number) => JsonValue) => {
    let looks = 0;
    const list = new Proxy(Array.from({ length }, (_, index) => make(index)) as JsonValue[], {
      get(target, name, receiver) {
        if (typeof name === 'string' && /^\d+$/.test(name)) looks += 1;
        return Reflect.get(target, name, receiver);
      },
    });
    return { list, looks: () => looks };
  };

  test.each<[string, string, (index: number) => JsonValue]>([
    ['numbers', 'enum', (index) => index],
    ['constants', 'oneOf', (index) => ({ const: index })],
    ['alternatives', 'anyOf', (index) => ({ const: index })],
  ])('is refused by the number of its %s, without looking at them', (_name, keyword, make) => {
    const { list, looks } = counted(1_000, make);
    expect(faultsIn(formOfSchema(manyOf({ [keyword]: list })))[0]).toContain(
      '"v0" in the input schema has 1000 choices',
    );
    expect(looks()).toBe(0);
  });

  test("is read without what a form doesn't read of it", () => {
    let reads = 0;
    const definition = new Proxy<JsonObject>(
      { type: 'string', ...Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`x-${n}`, n])) },
      {
        get(target, name, receiver) {
          if (typeof name === 'string' && /^x-\d/.test(name)) reads += 1;
          return Reflect.get(target, name, receiver);
        },
      },
    );
    expect(formOf(manyOf(definition)).fields).toHaveLength(100);
    expect(reads).toBe(0);
  });

  test('still has 200 choices beside null', () => {
    const choices = Array.from({ length: 200 }, (_, n) => `c${n}`);
    expect(formOf(schemaOf({ a: { enum: [null, ...choices] } })).fields[0]?.choices).toEqual(choices);
  });
});

describe('white space in choices', () => {
  test('around titles is left out, within them it stays', () => {
    const member = { oneOf: [{ const: 1, title: ' A  B ' }] };
    expect(fieldOf(member).choices).toEqual(['A  B']);
  });

  test.each<[string, JsonObject, string, JsonValue]>([
    ['one', { enum: ['A\nB', 'C'] }, 'A\r\nB', 'A\nB'],
    ['one that has them itself', { enum: ['A\r\nB', 'C'] }, 'A\r\nB', 'A\r\nB'],
    ['several', { type: 'array', items: { enum: ['A\nB', 'C'] } }, 'A\r\nB', ['A\nB']],
  ])('comes back with the line breaks of browsers: %s', (_name, member, given, expected) => {
    const form = formOf(schemaOf({ a: member }));
    expect(readFields(form.fields, { a: given })).toEqual({ values: { a: expected }, faults: [] });
  });
});

describe('the input', () => {
  const inputOf = (schema: JsonObject, given: JsonObject) => {
    const form = formOf(schema);
    const { values, faults } = readFields(form.fields, given);
    expect(faults).toEqual([]);
    return inputOfValues(form, values);
  };

  test.each<[string, JsonValue, boolean, JsonValue, JsonObject]>([
    ['what is empty is left out', { type: 'string' }, false, '', {}],
    ['or null if it may be', { type: ['string', 'null'] }, false, '', { a: null }],
    ['no choice of several is left out', { type: 'array', items: { enum: ['x'] } }, false, null, {}],
    ['or an empty list if it is required', { type: 'array', items: { enum: ['x'] } }, true, null, { a: [] }],
    ['a box that is not ticked is false', { type: 'boolean' }, false, null, { a: false }],
    ['a choice is its value', { enum: [1, 2.5] }, true, '2.5', { a: 2.5 }],
    ['by its title', { oneOf: [{ const: 's', title: 'Small' }] }, true, 'Small', { a: 's' }],
    ['and so are several', { type: 'array', items: { enum: [1, 2, 3] } }, true, ['3', '1'], { a: [1, 3] }],
    ['numbers are numbers', { type: 'integer' }, true, '12', { a: 12 }],
  ])('%s', (_name, member, isRequired, given, expected) => {
    expect(inputOf(schemaOf({ a: member }, isRequired ? ['a'] : []), { a: given })).toEqual(expected);
  });

  test('has nothing that the schema does not describe', () => {
    expect(inputOf(schemaOf({ a: { type: 'string' } }), { a: 'x', b: 'y' })).toEqual({ a: 'x' });
  });
});

describe('a flow with a form without fields', () => {
  const problemsOf = (config: JsonObject, schema?: JsonObject) =>
    findProblems(
      {
        nodes: [{ id: 'form', type: 'trigger.form', data: { config: { title: 'Form', ...config } } }],
        edges: [],
        ...(schema === undefined ? {} : { settings: { input_schema: schema } }),
      },
      (type) => (type === 'trigger.form' ? triggerForm : undefined),
    ).map(({ pointer, code }) => [pointer, code]);
  const AT_FIELDS = [['/flow_data/nodes/0/data/config/fields', 'invalid_config']];

  test('needs an input schema that a form can ask for', () => {
    expect(problemsOf({}, schemaOf({ a: { type: 'string' } }))).toEqual([]);
    expect(problemsOf({ fields: [] }, schemaOf({ a: { type: 'string' } }))).toEqual([]);
    expect(problemsOf({})).toEqual(AT_FIELDS);
    expect(problemsOf({}, schemaOf({ a: {} }))).toEqual(AT_FIELDS);
  });

  test('one with its own fields does not', () => {
    const fields = [{ label: 'Field', name: 'a', type: 'text' }];
    expect(problemsOf({ fields }, schemaOf({ a: {} }))).toEqual([]);
  });
});
