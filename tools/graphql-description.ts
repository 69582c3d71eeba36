import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import {
  type GraphqlDefinition,
  type GraphqlOperation,
  type GraphqlSelection,
  type GraphqlType,
  type GraphqlValue,
  parseGraphqlOperation,
  parseGraphqlSchema,
} from './graphql-syntax.ts';
import { type DescribedOperation, ServiceDescription, type SoughtRequest } from './service-description.ts';

const SCALARS: { readonly [name: string]: JsonObject } = {
  String: { type: 'string' },
  ID: { type: 'string' },
  Int: { type: 'integer' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
};
const ROOTS: { readonly [kind: string]: string } = { query: 'Query', mutation: 'Mutation' };

/** A service with a GraphQL schema. What a request may send and what its answer has follows from the query in its body. */
export class GraphqlDescription extends ServiceDescription {
  readonly #types: ReadonlyMap<string, GraphqlDefinition>;

  constructor(text: string) {
    const types = parseGraphqlSchema(text);
    const schemas = [...types].map(([name, definition]): [string, JsonValue] => [
      name,
      schemaOfDefinition(definition, types),
    ]);
    super({ components: { schemas: Object.fromEntries(schemas) } });
    this.#types = types;
  }

  override find({ method, path, body }: SoughtRequest): DescribedOperation | undefined {
    const query = body !== undefined && isJsonObject(body) ? body.query : undefined;
    if (method !== 'POST' || typeof query !== 'string' || query.startsWith('{{')) return undefined;
    const operation = parseGraphqlOperation(query);
    const faults: string[] = [];
    const data = this.#select(ROOTS[operation.kind] ?? '', operation.selected, operation, faults);
    return {
      method,
      path,
      parameters: [],
      body: { types: ['application/json'], schema: bodyOf(operation, this.#types) },
      answer: { type: 'object', properties: { data, errors: {}, extensions: {} } },
      faults,
      isDeprecated: false,
    };
  }

  /** What an answer has where a query selects something from a type. */
  #select(
    type: string,
    selected: readonly GraphqlSelection[],
    operation: GraphqlOperation,
    faults: string[],
  ): JsonObject {
    const properties = selected.map(({ name, alias, args, selected: below }): [string, JsonValue] => {
      const field = this.#types.get(type)?.fields.get(name);
      if (field === undefined) {
        faults.push(`selects ${type}.${name}, which the schema does not have.`);
        return [alias, {}];
      }
      const at = `${type}.${name}`;
      for (const [argument, value] of args) {
        const expected = field.args.get(argument);
        if (expected === undefined)
          faults.push(`gives ${at} the argument ${argument}, which it does not take.`);
        else if (!this.#fits(value, expected.type, operation))
          faults.push(`gives the argument ${argument} of ${at} another type.`);
      }
      for (const [argument, { type: expected, hasDefault }] of field.args) {
        if (expected.isRequired && !hasDefault && !args.has(argument))
          faults.push(`lacks the argument ${argument} of ${at}.`);
      }
      const isObject =
        this.#types.get(field.type.name)?.fields.size !== 0 && this.#types.has(field.type.name);
      if (isObject !== below.length > 0)
        faults.push(`${isObject ? 'selects nothing' : 'selects something'} of ${at}.`);
      const one = isObject
        ? this.#select(field.type.name, below, operation, faults)
        : schemaOfName(field.type.name, this.#types);
      return [alias, field.type.isList ? { type: 'array', items: one } : one];
    });
    return { type: 'object', properties: Object.fromEntries(properties) };
  }

  #fits({ kind, text }: GraphqlValue, expected: GraphqlType, { variables }: GraphqlOperation): boolean {
    const given = variables.get(text);
    if (kind === 'variable')
      return (
        given?.name === expected.name &&
        given.isList === expected.isList &&
        (given.isRequired || !expected.isRequired)
      );
    if (kind === 'number') return ['Int', 'Float'].includes(expected.name);
    if (kind === 'text') return !['Int', 'Float', 'Boolean'].includes(expected.name);
    const choices = this.#types.get(expected.name)?.choices ?? [];
    return (
      kind === 'other' ||
      (expected.name === 'Boolean' ? /^(true|false)$/ : new RegExp(`^(${choices.join('|')}|null)$`)).test(
        text,
      )
    );
  }
}

function bodyOf({ variables }: GraphqlOperation, types: ReadonlyMap<string, GraphqlDefinition>): JsonObject {
  const members = [...variables].map(([name, type]): [string, JsonValue] => [
    name,
    schemaOfType(type, types),
  ]);
  const required = [...variables].filter(([, { isRequired }]) => isRequired).map(([name]) => name);
  const values: JsonObject = {
    type: 'object',
    properties: Object.fromEntries(members),
    required,
    ...(members.length === 0 ? { additionalProperties: true } : {}),
  };
  return { type: 'object', properties: { query: {}, variables: values }, required: ['query'] };
}

function schemaOfDefinition(
  { kind, fields, choices }: GraphqlDefinition,
  types: ReadonlyMap<string, GraphqlDefinition>,
): JsonObject {
  if (kind === 'enum') return { type: 'string', enum: choices };
  const properties = [...fields].map(([name, { type }]): [string, JsonValue] => [
    name,
    schemaOfType(type, types),
  ]);
  const required = [...fields]
    .filter(([, { type, hasDefault }]) => type.isRequired && !hasDefault)
    .map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(kind === 'input' ? { required } : {}),
  };
}

function schemaOfType(
  { name, isList }: GraphqlType,
  types: ReadonlyMap<string, GraphqlDefinition>,
): JsonObject {
  const one = schemaOfName(name, types);
  return isList ? { type: 'array', items: one } : one;
}

/** Scalars that the schema names itself, such as dates, may be anything. */
function schemaOfName(name: string, types: ReadonlyMap<string, GraphqlDefinition>): JsonObject {
  return types.has(name) ? { $ref: `#/components/schemas/${name}` } : (SCALARS[name] ?? {});
}
