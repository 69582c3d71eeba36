import { type JsonObject, type JsonValue, own, setOwn } from '@millrace/engine';
import { choice } from '@millrace/node-kit/choice';
import { Type } from 'typebox';

/** The methods a webhook may accept. */
export const WEBHOOK_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const names = (title: string, description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    title,
    description,
    maxItems: 50,
    default: [],
  });

/** Which calls a webhook accepts, and what it keeps of them besides the body. */
export const requestProperties = {
  methods: Type.Array(Type.Enum(WEBHOOK_METHODS, { type: 'string', default: 'GET' }), {
    title: 'Methods',
    description: 'HTTP methods that start an execution. POST always does.',
    maxItems: WEBHOOK_METHODS.length,
    default: ['POST'],
  }),
  path: Type.String({
    title: 'Path after the URL',
    description:
      'Such as orders/:id. A part that begins with a colon matches anything and is read as {{trigger.request.params.id}}. Empty: the URL alone.',
    maxLength: 200,
    default: '',
  }),
  headers: names(
    'Headers to keep',
    'Names of headers that the workflow can read as {{trigger.request.headers["x-topic"]}}, in lower case. Those that carry secrets, such as Authorization, are never kept.',
  ),
  query: names(
    'Query parameters to keep',
    'Names of parameters that the workflow can read as {{trigger.request.query.page}}. Secrets, such as token, are never kept.',
  ),
  body: choice(
    'Body',
    'JSON and simple forms only; or also multipart forms, without the content of their files, and any other type as text; or every body as text; or also forms with files, and any other type as a file.',
    { json: 'JSON or form', any: 'Any type', raw: 'Always text', files: 'With files' },
    { default: 'json' },
  ),
};

/** How a webhook accepts and keeps calls. */
export interface RequestOptions {
  readonly methods: readonly (typeof WEBHOOK_METHODS)[number][];
  readonly path: string;
  readonly headers: readonly string[];
  readonly query: readonly string[];
}

/** A call as it arrived. */
export interface ReceivedRequest {
  readonly method: string;
  /** What follows the webhook's URL: as sent, without the slash before it. */
  readonly rest: string;
  /** By lower-case name. */
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  readonly query: URLSearchParams;
}

const SECRET_WORDS: ReadonlySet<string> = new Set(
  'apikey auth authentication authorization bearer cookie credential credentials csrf hmac hmacsha256 jwt key pass passwd password pwd secret sig signature signed session token xsrf'.split(
    ' ',
  ),
);
/** A key only by its name. */
const HARMLESS: ReadonlySet<string> = new Set(['idempotency-key', 'x-idempotency-key']);

/** Whether the name of a header or a query parameter says that its value proves who is calling. */
export function isSecretName(name: string): boolean {
  const lower = name.toLowerCase();
  if (HARMLESS.has(lower)) return false;
  const spaced = name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
  return [...lower.split(/[^a-z0-9]+/), ...spaced.split(/[^a-z0-9]+/)].some((word) => SECRET_WORDS.has(word));
}

/** The methods that start an execution. */
export function acceptedMethods({ methods }: Pick<RequestOptions, 'methods'>): readonly string[] {
  return WEBHOOK_METHODS.filter((method) => method === 'POST' || methods.includes(method));
}

const PARAMETER = /^:([A-Za-z_][A-Za-z0-9_]{0,63})$/;
const FIXED = /^[A-Za-z0-9._~!$&'()*+,;=@-]+$/;

/** Whether a path can be matched: parts of plain characters, or names after a colon, each once. */
export function isWebhookPath(path: string): boolean {
  if (path === '') return true;
  const parts = path.split('/');
  const parameters = parts.flatMap((part) => PARAMETER.exec(part)?.[1] ?? []);
  return (
    parts.every((part) => PARAMETER.test(part) || (FIXED.test(part) && part !== '.' && part !== '..')) &&
    new Set(parameters).size === parameters.length
  );
}

/** The parameters in what follows a webhook's URL; null if its path doesn't match. */
export function matchPath(path: string, rest: string): JsonObject | null {
  const expected = path === '' ? [] : path.split('/');
  const given = rest === '' ? [] : rest.split('/');
  if (given.length !== expected.length) return null;
  const params: { [name: string]: JsonValue } = {};
  for (const [index, part] of expected.entries()) {
    const text = decoded(given[index] ?? '');
    const name = PARAMETER.exec(part)?.[1];
    if (text === null || text === '' || (name === undefined && text !== part)) return null;
    if (name !== undefined) setOwn(params, name, text);
  }
  return params;
}

/** What a path matches, whatever its parameters are called. */
export function shapeOfPath(path: string): string {
  return path
    .split('/')
    .map((part) => (PARAMETER.test(part) ? ':' : part))
    .join('/');
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/**
 * What a webhook keeps of a call besides its body: null if its settings ask for nothing. Only what they list, and never a secret.
 * @param params as {@link matchPath} found them
 * @param unkept names of headers and parameters that the check of the caller reads, in lower case
 */
export function keptRequest(
  options: RequestOptions,
  { method, headers, query }: ReceivedRequest,
  params: JsonObject,
  unkept: readonly string[] = [],
): JsonObject | null {
  const isPlain = options.path === '' && options.headers.length === 0 && options.query.length === 0;
  if (isPlain && acceptedMethods(options).length === 1) return null;
  const isKept = (name: string) => !isSecretName(name) && !unkept.includes(name.toLowerCase());
  const keptHeaders: { [name: string]: JsonValue } = {};
  for (const name of options.headers.filter(isKept).map((each) => each.toLowerCase())) {
    const value = own(headers, name);
    if (value !== undefined) setOwn(keptHeaders, name, typeof value === 'string' ? value : value.join(', '));
  }
  const keptQuery: { [name: string]: JsonValue } = {};
  for (const name of options.query.filter(isKept)) {
    const values = query.getAll(name);
    if (values.length > 0) setOwn(keptQuery, name, values.length === 1 ? (values[0] ?? '') : values);
  }
  return { method, headers: keptHeaders, query: keptQuery, params };
}
