import { readFileSync } from 'node:fs';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import { parse } from 'yaml';

/** What a service says of a value: a JSON schema, or nothing that is known. */
export type DescribedSchema = JsonObject | null;

/** A value of an operation, outside its body. */
export interface DescribedParameter {
  readonly name: string;
  readonly in: string;
  readonly isRequired: boolean;
  readonly schema: DescribedSchema;
}

/** One operation, as a service's own description has it. */
export interface DescribedOperation {
  readonly method: string;
  /** With the path of the server, and `{name}` where a value goes. */
  readonly path: string;
  readonly parameters: readonly DescribedParameter[];
  readonly body: { readonly types: readonly string[]; readonly schema: DescribedSchema } | null;
  /** Of a successful answer. */
  readonly answer: DescribedSchema;
  readonly isDeprecated: boolean;
}

/** The members that an object may have. */
interface DescribedMembers {
  readonly properties: ReadonlyMap<string, DescribedSchema>;
  readonly required: ReadonlySet<string>;
  /** It may have others, too. */
  readonly isOpen: boolean;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
/** References that lead to themselves end here. */
const MAX_DEPTH = 30;

/** A service's description of itself: OpenAPI 3, Swagger 2 or Google's discovery format, as JSON or YAML. */
export class ServiceDescription {
  readonly operations: readonly DescribedOperation[];
  readonly #document: JsonObject;

  constructor(document: JsonObject) {
    this.#document = document;
    this.operations = document.kind === 'discovery#restDescription' ? this.#discovered() : this.#described();
  }

  /** The schema that a reference leads to. */
  resolve(schema: JsonValue | undefined, depth = 0): DescribedSchema {
    if (schema === undefined || !isJsonObject(schema) || depth > MAX_DEPTH) return null;
    const { $ref } = schema;
    if (typeof $ref !== 'string') return schema;
    const path = $ref.startsWith('#/') ? $ref.slice(2).split('/') : ['schemas', $ref];
    let found: JsonValue | undefined = this.#document;
    for (const step of path)
      found = objectOf(found)[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')];
    return this.resolve(found, depth + 1);
  }

  /** The members that a schema allows, whichever of its alternatives holds. */
  membersOf(given: DescribedSchema, depth = 0): DescribedMembers {
    const schema = this.resolve(given ?? undefined);
    if (schema === null || depth > MAX_DEPTH)
      return { properties: new Map(), required: new Set(), isOpen: true };
    const { allOf, anyOf, oneOf, additionalProperties } = schema;
    const all = listOf(allOf).map((each) => this.membersOf(objectOf(each), depth + 1));
    const some = [...listOf(anyOf), ...listOf(oneOf)]
      .filter((each) => objectOf(each).type !== 'null')
      .map((each) => this.membersOf(objectOf(each), depth + 1));
    const own = Object.entries(objectOf(schema.properties)).map(([name, each]): [string, DescribedSchema] => [
      name,
      objectOf(each),
    ]);
    const properties = new Map([...[...some, ...all].flatMap((each) => [...each.properties]), ...own]);
    const isSaid = additionalProperties === true || isJsonObject(additionalProperties ?? null);
    return {
      properties,
      required: new Set([
        ...listOf(schema.required).map(String),
        ...all.flatMap((each) => [...each.required]),
      ]),
      isOpen: isSaid || properties.size === 0 || some.some((each) => each.isOpen),
    };
  }

  #described(): DescribedOperation[] {
    const { paths, basePath } = this.#document;
    return Object.entries(objectOf(paths)).flatMap(([path, item]) =>
      METHODS.flatMap((method) => {
        const operation = objectOf(item)[method];
        if (operation === undefined) return [];
        const servers = [operation, item, this.#document].map((each) => listOf(objectOf(each).servers));
        const server = objectOf(servers.find((each) => each.length > 0)?.[0] ?? null).url;
        const base = typeof basePath === 'string' ? basePath : pathOf(server);
        return [
          this.#operation(
            method.toUpperCase(),
            joined(base, path),
            objectOf(operation),
            listOf(objectOf(item).parameters),
          ),
        ];
      }),
    );
  }

  #operation(
    method: string,
    path: string,
    operation: JsonObject,
    shared: readonly JsonValue[],
  ): DescribedOperation {
    const all = [...shared, ...listOf(operation.parameters)].map(
      (each) => this.resolve(each) ?? ({} as JsonObject),
    );
    const parameters = all.map((each) => ({
      name: textOf(each.name),
      in: textOf(each.in),
      isRequired: each.required === true,
      schema: this.resolve(each.schema ?? each),
    }));
    const requestBody = this.resolve(operation.requestBody);
    const responses = objectOf(operation.responses);
    const success = Object.keys(responses).find((status) => status.startsWith('2'));
    const answer = success === undefined ? null : this.resolve(responses[success]);
    return {
      method,
      path,
      parameters: parameters.filter((each) => !['body', 'formData'].includes(each.in)),
      body:
        requestBody === null ? bodyOfParameters(parameters) : bodyOfContent(objectOf(requestBody.content)),
      answer: this.resolve(
        answer?.schema ?? objectOf(objectOf(answer?.content)['application/json']).schema ?? null,
      ),
      isDeprecated: operation.deprecated === true,
    };
  }

  #discovered(): DescribedOperation[] {
    const { servicePath, rootUrl } = this.#document;
    const base = pathOf(textOf(rootUrl) + textOf(servicePath));
    const collect = (node: JsonObject): JsonObject[] => [
      ...Object.values(objectOf(node.methods)).map(objectOf),
      ...Object.values(objectOf(node.resources)).flatMap((each) => collect(objectOf(each))),
    ];
    const always = Object.entries(objectOf(this.#document.parameters));
    return collect(this.#document).map((method) => ({
      method: textOf(method.httpMethod),
      path: joined(base, textOf(method.path)).replaceAll('{+', '{'),
      parameters: [...Object.entries(objectOf(method.parameters)), ...always].map(([name, each]) => ({
        name,
        in: textOf(objectOf(each).location) || 'query',
        isRequired: objectOf(each).required === true,
        schema: objectOf(each),
      })),
      body:
        method.request === undefined
          ? null
          : { types: ['application/json'], schema: this.resolve(method.request) },
      answer: this.resolve(method.response),
      isDeprecated: method.deprecated === true,
    }));
  }
}

/** Reads a description from a file. */
export function readDescription(file: string): ServiceDescription {
  const text = readFileSync(file, 'utf8');
  const document: unknown = /\.ya?ml$/.test(file) ? parse(text, { maxAliasCount: 10_000 }) : JSON.parse(text);
  return new ServiceDescription(document as JsonObject);
}

function bodyOfContent(content: JsonObject): DescribedOperation['body'] {
  const [first] = Object.values(content);
  return first === undefined
    ? null
    : { types: Object.keys(content), schema: objectOf(objectOf(first).schema) };
}

/** Swagger 2 has the body among the parameters. */
function bodyOfParameters(parameters: readonly DescribedParameter[]): DescribedOperation['body'] {
  const whole = parameters.find((each) => each.in === 'body');
  if (whole !== undefined) return { types: ['application/json'], schema: whole.schema };
  const fields = parameters.filter((each) => each.in === 'formData');
  if (fields.length === 0) return null;
  const properties = Object.fromEntries(fields.map(({ name, schema }) => [name, schema ?? {}]));
  const required = fields.filter((each) => each.isRequired).map(({ name }) => name);
  return {
    types: ['application/x-www-form-urlencoded', 'application/json'],
    schema: { type: 'object', properties, required },
  };
}

function pathOf(url: JsonValue | undefined): string {
  if (typeof url !== 'string') return '';
  const address = url.replace(/\{[^}]*\}/g, 'x');
  return URL.parse(address, 'https://example.com')?.pathname ?? '';
}

function joined(base: string, path: string): string {
  return `${base.replace(/\/$/, '')}/${path.replace(/^\//, '')}`;
}

/** The value as an object; empty if it is none. */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

/** The value as a text; empty if it is none. */
export function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** The value as a list; empty if it is none. */
export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return value !== undefined && isJsonArray(value) ? value : [];
}
