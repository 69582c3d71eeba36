import { inEnglish } from '@millrace/messages/english';
import { runs } from '@millrace/testing/property-runs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeUnusableSchema, findSchemaFaults, type JsonValue } from '../src/index.ts';
import { RULES } from '../src/schema-keywords.ts';

function faultsOf(schema: JsonValue): string[] {
  return findSchemaFaults(schema).map(({ pointer, message }) => `${pointer} ${inEnglish(message)}`);
}

function pointersOf(schema: JsonValue): string[] {
  return findSchemaFaults(schema).map(({ pointer }) => pointer);
}

describe('faults of a JSON Schema', () => {
  it('P14: types that do not exist and keywords with values of another kind', () => {
    expect(faultsOf({ type: 'strin' })).toEqual([
      '/type must be string, number, integer, boolean, object, array or null, or a list of these',
    ]);
    expect(faultsOf({ required: 'name' })).toEqual(['/required must be a list of distinct strings']);
    expect(faultsOf({ items: [{ type: 'string' }] })).toEqual([
      '/items must be a schema, not a list; use prefixItems for schemas by position',
    ]);
    const schema = {
      properties: { a: { minLength: -1 }, b: 3, c: { anyOf: [] }, 'd/e': { enum: 'x' } },
      additionalProperties: 'no',
      $defs: { x: { multipleOf: 0 }, y: [] },
      allOf: [{ uniqueItems: 'yes' }],
    };
    expect(pointersOf(schema)).toEqual([
      '/properties/a/minLength',
      '/properties/b',
      '/properties/c/anyOf',
      '/properties/d~1e/enum',
      '/additionalProperties',
      '/$defs/x/multipleOf',
      '/$defs/y',
      '/allOf/0/uniqueItems',
    ]);
  });

  it('P14: data, unknown keywords and members that are only named like keywords are not checked', () => {
    const inner = { type: 'strin', required: 'x' };
    expect(pointersOf({ const: inner, default: inner, enum: [inner], examples: [inner] })).toEqual([]);
    expect(pointersOf({ 'x-note': inner, properties: { type: { type: 'string' }, required: {} } })).toEqual(
      [],
    );
    expect(pointersOf({ properties: { default: { type: 'strin' } } })).toEqual(['/properties/default/type']);
  });

  it('P14: references that lead nowhere, by pointer and by name', () => {
    const $defs = { 'a/b': {}, 'c d': { $anchor: 'there' }, list: { allOf: [true] } };
    for (const $ref of ['#', '#/$defs/a~1b', '#/$defs/c%20d', '#there', '#/$defs/list/allOf/0'])
      expect(pointersOf({ $defs, properties: { x: { $ref } } })).toEqual([]);
    for (const $ref of [
      '#/$defs/x',
      '#/nothing',
      '#nobody',
      '#/$defs/list/allOf/1',
      '#/%',
      '#/$defs/toString',
    ])
      expect(faultsOf({ $defs, $ref })).toEqual([`/$ref leads nowhere: this schema has no ${$ref}`]);
    expect(faultsOf({ $ref: '#/title', title: 'x' })).toEqual([
      '/$ref leads to something that is not a schema: #/title',
    ]);
    // Within a schema that has its own `$id`, references start there.
    const own = { $id: 'https://example.org/inner', $defs: { z: {} }, $ref: '#/$defs/z' };
    expect(pointersOf({ $defs: { own } })).toEqual([]);
    expect(pointersOf({ $defs: { own, z: {} }, $ref: '#/$defs/z' })).toEqual([]);
  });

  it('P14: the target of a reference is a schema, wherever it is', () => {
    const schema = { 'x-parts': { a: { type: 'strin' }, b: { $ref: '#/x-parts/c' }, c: { required: 1 } } };
    expect(pointersOf({ ...schema, anyOf: [{ $ref: '#/x-parts/a' }, { $ref: '#/x-parts/b' }] })).toEqual([
      '/x-parts/a/type',
      '/x-parts/c/required',
    ]);
  });

  it('P14: references to other documents, circular references, endless nesting and unsupported patterns are faults', () => {
    const circle = 'leads back to itself without going on to a part of the value';
    expect(faultsOf({ $ref: '#' })).toEqual([`/$ref ${circle}`]);
    expect(faultsOf({ $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { $ref: '#/$defs/a' } } })).toEqual([
      `/$defs/b/$ref ${circle}`,
    ]);
    // A tree is as deep as the value, not endless.
    expect(faultsOf({ properties: { child: { $ref: '#' } }, items: { anyOf: [{ $ref: '#' }] } })).toEqual([]);
    let deep: JsonValue = {};
    for (let level = 0; level < 101; level += 1) deep = { not: deep };
    const elsewhere = { properties: { a: { $ref: 'https://example.org/schema' } } };
    for (const schema of [deep, { pattern: '(a)\\1' }, { $ref: '#' }, elsewhere])
      expect(describeUnusableSchema(schema)).not.toBeNull();
    expect(inEnglish(describeUnusableSchema(elsewhere) ?? '')).toBe(
      '/properties/a/$ref refers to another document; only references that begin with # are followed',
    );
    // These check nothing, which is reported before activation and doesn't stop active workflows.
    for (const schema of [{ type: 'strin' }, { $ref: '#/$defs/x' }, { required: 'name' }])
      expect(describeUnusableSchema(schema)).toBeNull();
  });

  it('P14: at most 20 faults are reported, and 20,000 references are followed quickly', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 100 }, (_, n) => [`p${n}`, { type: 'strin' }]),
    );
    expect(findSchemaFaults({ properties })).toHaveLength(20);
    const $defs = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, n) => [`n${n}`, n === 0 ? {} : { $ref: `#/$defs/n${n - 1}` }]),
    );
    expect(findSchemaFaults({ $defs })).toEqual([]);
  });
});

const META_SCHEMA = 'https://json-schema.org/draft/2020-12/schema';

describe('the table of keywords', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });

  it('P14: has every keyword of the meta-schema of 2020-12', () => {
    const vocabularies = [
      'schema',
      ...['core', 'applicator', 'unevaluated', 'validation', 'meta-data', 'format-annotation', 'content'].map(
        (name) => `meta/${name}`,
      ),
    ];
    const keywords = vocabularies.flatMap((name) => {
      const { schema } = ajv.getSchema(`https://json-schema.org/draft/2020-12/${name}`) ?? {};
      return Object.keys((schema as { properties: object }).properties);
    });
    // These accept any value.
    const known = new Set([...Object.keys(RULES), 'const', 'default']);
    expect(keywords.length).toBeGreaterThan(50);
    expect(keywords.filter((keyword) => !known.has(keyword))).toEqual([]);
    expect(Object.keys(RULES).filter((keyword) => !keywords.includes(keyword))).toEqual([]);
  });

  it('P14: agrees with the meta-schema on any schema', () => {
    const value = fc.oneof(
      fc.constantFrom<JsonValue>(true, false, null, 0, 1, -1, 0.5, '', 'string', 'array', '#', '#a', 'a b'),
      fc.constantFrom<JsonValue>([], {}, ['a'], ['a', 'a'], ['null', 'object'], { a: ['b'] }, { a: true }),
    );
    const { schema } = fc.letrec<{ schema: JsonValue }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 3 },
        fc.boolean(),
        fc.dictionary(
          fc.constantFrom(...Object.keys(RULES)),
          fc.oneof(
            value,
            tie('schema'),
            fc.array(tie('schema'), { maxLength: 2 }),
            fc.dictionary(fc.constantFrom('a', 'b'), tie('schema'), { maxKeys: 2 }),
          ),
          { maxKeys: 4 },
        ),
      ),
    }));
    fc.assert(
      fc.property(schema, (any) => {
        const found = findSchemaFaults(any).filter(
          // Beyond what the meta-schema can express.
          ({ message, isUnusable }) => !isUnusable && !inEnglish(message).startsWith('leads '),
        );
        expect([any, found.length === 0]).toEqual([any, ajv.validate(META_SCHEMA, any)]);
      }),
      { numRuns: runs(2_000) },
    );
  });
});
