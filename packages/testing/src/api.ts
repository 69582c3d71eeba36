import { parseJson, parseTimestamp } from '@millrace/engine';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'vitest';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD' | 'OPTIONS' | 'PATCH';

export interface ApiRequest {
  readonly key?: { readonly text: string } | string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent verbatim instead of `body`. */
  readonly raw?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: { readonly [name: string]: string };
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body parsed without loss; `{}` if there is none or it isn't JSON. */
  readonly json: Body;
}

/** A JSON body as tests read it: the response has been checked against its schema, so members are assumed to have the schema's types. */
export interface Body {
  readonly id: number;
  readonly version: number;
  readonly execution_id: number;
  readonly status: string;
  readonly code: string;
  readonly name: string;
  readonly detail: string;
  readonly errors: readonly {
    readonly pointer: string;
    readonly field: string;
    readonly code: string;
    readonly message: string;
  }[];
  readonly data: readonly Body[];
  readonly pagination: {
    readonly next_cursor: string | null;
    readonly has_more: boolean;
    readonly limit: number;
  };
  readonly [member: string]: unknown;
}

/** Sends a request to `/api/v1` + path. Fails the test if the response doesn't match the OpenAPI document. */
export type ApiClient = (method: Method, path: string, request?: ApiRequest) => Promise<ApiAnswer>;

interface Operation {
  readonly responses: {
    readonly [status: string]: {
      readonly headers?: { readonly [name: string]: unknown };
      readonly content?: { readonly [mediaType: string]: { readonly schema: object } };
    };
  };
}
interface OpenApiDocument {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: { readonly schemas: object };
}

type Check = (method: Method, path: string, answer: ApiAnswer) => void;

/** By document: most services of a run have the same one. */
const checks = new Map<string, Check>();
/** By object: a document takes a millisecond to write. */
const known = new WeakMap<OpenApiDocument, Check>();

function checkBy(document: OpenApiDocument): Check {
  const ready = known.get(document);
  if (ready !== undefined) return ready;
  const text = JSON.stringify(document);
  const check = checks.get(text) ?? createCheck(document);
  checks.set(text, check);
  known.set(document, check);
  return check;
}

/** A client that uses the service's own OpenAPI document. */
export function createApiClient(url: string, document: () => unknown): ApiClient {
  let check: Check | undefined;
  return async (method, path, request = {}) => {
    const answer = await send(`${url}/api/v1${path}`, method, request);
    check ??= checkBy(document() as OpenApiDocument);
    check(method, `/api/v1${path}`, answer);
    return answer;
  };
}

/** Sends a request without checking the response. */
export async function send(url: string, method: Method, request: ApiRequest = {}): Promise<ApiAnswer> {
  const body = request.raw ?? (request.body === undefined ? undefined : JSON.stringify(request.body));
  const key = typeof request.key === 'object' ? request.key.text : request.key;
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...request.headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  const isJson = /json\b/.test(response.headers.get('content-type') ?? '');
  const json = (isJson && text !== '' ? parseJson(text) : {}) as Body;
  return { status: response.status, headers: response.headers, text, json };
}

function createCheck(document: OpenApiDocument): Check {
  const validatorOf = createValidators(document);
  const templates = Object.keys(document.paths).map((template) => ({
    template,
    pattern: new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`),
  }));
  return (method, path, answer) => {
    const bare = path.split('?', 1)[0] ?? '';
    const template = templates.find(({ pattern }) => pattern.test(bare))?.template ?? '';
    const operation = document.paths[template]?.[method.toLowerCase()];
    const where = `${method} ${template || bare} ${answer.status}`;
    expect(operation, `${where}: the OpenAPI document has no such operation`).toBeDefined();
    const declared = operation?.responses[String(answer.status)];
    expect(
      declared,
      `${where}: the OpenAPI document does not declare this status: ${answer.text}`,
    ).toBeDefined();
    if (declared === undefined) return;
    checkHeaders(where, declared.headers ?? {}, answer);
    checkBody(where, declared.content, answer, (mediaType) =>
      validatorOf(template, method, answer.status, mediaType),
    );
  };
}

const DOCUMENTED_HEADERS = [
  'location',
  'etag',
  'retry-after',
  'www-authenticate',
  'ratelimit',
  'ratelimit-policy',
  'idempotent-replayed',
  'x-request-id',
];

function checkHeaders(where: string, declared: object, answer: ApiAnswer): void {
  const names = Object.keys(declared).map((name) => name.toLowerCase());
  const sent = DOCUMENTED_HEADERS.filter((name) => answer.headers.has(name));
  expect(names, `${where}: the OpenAPI document does not declare a header`).toEqual(
    expect.arrayContaining(sent),
  );
}

function checkBody(
  where: string,
  content: { readonly [mediaType: string]: unknown } | undefined,
  answer: ApiAnswer,
  validatorOf: (mediaType: string) => ValidateFunction,
): void {
  if (content === undefined) {
    expect(answer.text, `${where}: the OpenAPI document declares no body`).toBe('');
    return;
  }
  const mediaType = (answer.headers.get('content-type') ?? '').split(';', 1)[0] ?? '';
  expect(Object.keys(content), `${where}: undeclared content type`).toContain(mediaType);
  if (!mediaType.endsWith('json')) return;
  const validate = validatorOf(mediaType);
  const isValid = validate(JSON.parse(answer.text));
  expect(isValid, `${where}: ${JSON.stringify(validate.errors)} in ${answer.text}`).toBe(true);
}

function createValidators(document: OpenApiDocument) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addFormat('date-time', (text: string) => parseTimestamp(text) !== null);
  ajv.addFormat('uri', (text: string) => URL.canParse(text));
  ajv.addSchema(document, 'document');
  const compiled = new Map<string, ValidateFunction>();
  return (path: string, method: Method, status: number, mediaType: string): ValidateFunction => {
    const steps = [
      'paths',
      path,
      method.toLowerCase(),
      'responses',
      String(status),
      'content',
      mediaType,
      'schema',
    ];
    const pointer = steps
      .map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `document#/${pointer}` });
    compiled.set(pointer, validate);
    return validate;
  };
}
