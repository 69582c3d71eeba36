import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';

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
  /** Names of its headers, in small letters, and whether it has no others. */
  readonly headers?: ReadonlySet<string>;
  readonly hasAllHeaders?: boolean;
  /** What is wrong with the request itself, where that can be said without comparing it. */
  readonly faults?: readonly string[];
  readonly isDeprecated: boolean;
}

/** The members that an object may have. */
export interface DescribedMembers {
  readonly properties: ReadonlyMap<string, DescribedSchema>;
  readonly required: ReadonlySet<string>;
  /** It may have others, too. */
  readonly isOpen: boolean;
  /** What others have to be called. */
  readonly patterns: readonly RegExp[];
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
/** How Atlassian says of an operation that it takes the parameters of its query as a body, too. */
const BODY_INSTEAD = /query parameters may also be replaced with a JSON request body/i;
/** References that lead to themselves end here. */
const MAX_DEPTH = 30;
/** Descriptions that combine more alternatives than this are compared with the first ones. */
const MAX_VARIANTS = 500;

/** What a request is found by. */
export interface SoughtRequest {
  readonly method: string;
  /** With the path of the server, and `{{...}}` where a value goes. */
  readonly path: string;
  readonly body?: JsonValue;
}

/** A service's description of itself: OpenAPI 3, Swagger 2 or Google's discovery format. */
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

  /** The described operation of a request. */
  find({ method, path }: SoughtRequest): DescribedOperation | undefined {
    const wanted = shapeOf(path);
    const same = this.operations.filter((each) => each.method === method);
    const exact = same.find((each) => shapeOf(each.path) === wanted);
    if (exact !== undefined) return exact;
    // One of the two may name what the other leaves open, such as `me` for an account.
    const [ours, theirs] = [patternOf(wanted), same.map((each) => patternOf(shapeOf(each.path)))];
    return same.find((each, index) => ours.test(each.path) || theirs[index]?.test(wanted) === true);
  }

  /** The members that a schema allows, whichever of its alternatives holds. */
  membersOf(given: DescribedSchema, depth = 0): DescribedMembers {
    const schema = this.resolve(given ?? undefined);
    if (schema === null || depth > MAX_DEPTH)
      return { properties: new Map(), required: new Set(), isOpen: true, patterns: [] };
    const { allOf, anyOf, oneOf } = schema;
    const all = listOf(allOf).map((each) => this.membersOf(objectOf(each), depth + 1));
    const some = [...listOf(anyOf), ...listOf(oneOf)]
      .filter((each) => objectOf(each).type !== 'null')
      .map((each) => this.membersOf(objectOf(each), depth + 1));
    const own = Object.entries(objectOf(schema.properties)).map(([name, each]): [string, DescribedSchema] => [
      name,
      objectOf(each),
    ]);
    const properties = new Map([...[...some, ...all].flatMap((each) => [...each.properties]), ...own]);
    return {
      properties,
      required: new Set([
        ...listOf(schema.required).map(String),
        ...all.flatMap((each) => [...each.required]),
      ]),
      patterns: [
        ...Object.keys(objectOf(schema.patternProperties)).map((each) => new RegExp(each)),
        ...[...all, ...some].flatMap((each) => each.patterns),
      ],
      isOpen: isSaidOpen(schema) || properties.size === 0 || some.some((each) => each.isOpen),
    };
  }

  /** Each combination of alternatives that a value of the schema may have, as a schema without alternatives; null where nothing is known. */
  variantsOf(given: DescribedSchema, depth = 0): readonly JsonObject[] | null {
    const schema = this.resolve(given ?? undefined);
    if (schema === null || depth > MAX_DEPTH) return null;
    const { allOf, anyOf, oneOf, ...own } = schema;
    let variants: readonly JsonObject[] = [own];
    for (const part of [...listOf(allOf).map((each) => [each]), listOf(anyOf), listOf(oneOf)]) {
      const alternatives = part.filter((each) => objectOf(each).type !== 'null');
      if (alternatives.length === 0) continue;
      const some = alternatives.flatMap((each) => this.variantsOf(objectOf(each), depth + 1) ?? [{}]);
      variants = variants.flatMap((each) => some.map((other) => merged(each, other))).slice(0, MAX_VARIANTS);
    }
    return variants;
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
    const query = parameters.filter((each) => each.in === 'query');
    const mayBeBody = requestBody === null && BODY_INSTEAD.test(textOf(operation.description));
    return {
      method,
      path,
      parameters: parameters.filter(
        (each) => !(mayBeBody ? ['query'] : ['body', 'formData']).includes(each.in),
      ),
      body: mayBeBody
        ? bodyOfFields(query)
        : requestBody === null
          ? bodyOfParameters(parameters)
          : bodyOfContent(objectOf(requestBody.content)),
      answer: this.resolve(answer?.schema ?? schemaOfJson(objectOf(answer?.content)) ?? null),
      headers: new Set(Object.keys(objectOf(answer?.headers)).map((name) => name.toLowerCase())),
      hasAllHeaders: answer?.['x-complete'] === true,
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

/** A schema that both hold for. */
function merged(one: JsonObject, other: JsonObject): JsonObject {
  const properties = { ...objectOf(one.properties), ...objectOf(other.properties) };
  const required = [...listOf(one.required), ...listOf(other.required)];
  const patterns = { ...objectOf(one.patternProperties), ...objectOf(other.patternProperties) };
  const isOpen = [one, other].some((each) => isSaidOpen(each));
  return {
    ...one,
    ...other,
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
    ...(Object.keys(patterns).length === 0 ? {} : { patternProperties: patterns }),
    ...(isOpen ? { additionalProperties: true } : {}),
  };
}

function isSaidOpen({ additionalProperties }: JsonObject): boolean {
  return additionalProperties === true || isJsonObject(additionalProperties ?? null);
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
  return bodyOfFields(parameters.filter((each) => each.in === 'formData'));
}

function bodyOfFields(fields: readonly DescribedParameter[]): DescribedOperation['body'] {
  if (fields.length === 0) return null;
  const properties = Object.fromEntries(fields.map(({ name, schema }) => [name, schema ?? {}]));
  const required = fields.filter((each) => each.isRequired).map(({ name }) => name);
  return {
    types: ['application/x-www-form-urlencoded', 'application/json'],
    schema: { type: 'object', properties, required },
  };
}

function patternOf(shape: string): RegExp {
  return new RegExp(`^${shape.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll('{}', '[^/]+')}$`);
}

function shapeOf(path: string): string {
  return path.replace(/\{\{.*?\}\}|\{[^}]*\}/g, '{}');
}

function schemaOfJson(content: JsonObject): JsonValue | undefined {
  const type = Object.keys(content).find((each) => each.includes('json'));
  return type === undefined ? undefined : objectOf(content[type]).schema;
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
