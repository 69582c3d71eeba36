import swagger from '@fastify/swagger';
import { SCOPES } from '@millrace/admin-api';
import type { ErrorCode } from '@millrace/errors/errors';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { PROBLEM_SCHEMAS, problemExamples, problemResponses } from './responses.ts';

const DESCRIPTION = `Stores automation workflows and runs them.

Send an API key as \`Authorization: Bearer <API key>\`. Every error is an \`application/problem+json\` body with a stable
\`code\`. Unknown members of a body are refused with 422, as are unknown query parameters of operations that have parameters. Of members with the same name in one
JSON object the last counts; numbers are kept exactly. Rate limits are counted separately by each process of the service.
Operations marked \`x-millrace-extension\` go beyond the base API.`;

/** Errors that any request can get. */
const ANYWHERE: readonly ErrorCode[] = [
  'invalid_request',
  'not_acceptable',
  'request_timeout',
  'uri_too_long',
  'headers_too_large',
  'internal_error',
  'database_unavailable',
  'statement_timeout',
  'overloaded',
  'shutting_down',
];
const WITH_SCOPE: readonly ErrorCode[] = [
  'invalid_key',
  'key_expired',
  'key_revoked',
  'key_locked',
  'insufficient_scope',
  'too_many_failed_authentications',
  'rate_limited',
  'validation_failed',
];
const WITH_BODY: readonly ErrorCode[] = [
  'invalid_body',
  'invalid_json',
  'json_too_deep',
  'body_too_large',
  'unsupported_media_type',
];

const RATE_LIMIT_HEADERS = {
  RateLimit: {
    schema: { type: 'string' },
    description: 'Remaining requests and seconds until the window ends.',
  },
  'RateLimit-Policy': { schema: { type: 'string' }, description: 'Requests allowed per window, in seconds.' },
};
const REQUEST_ID_HEADER = {
  'X-Request-Id': { schema: { type: 'string' }, description: 'ID of the request.' },
};

/** Responses sent before requests are counted. */
const UNCOUNTED: ReadonlySet<string> = new Set(['401', '403', '408', '414', '431']);
/** A webhook's own checks run after the call is counted. */
const UNCOUNTED_OF_WEBHOOKS: ReadonlySet<string> = new Set(['408', '414', '431']);

const WEBHOOK_BODY = {
  required: false,
  description: 'Any JSON value, or a form.',
  content: {
    'application/json': { schema: {}, example: { order: { id: 17, amount: 2500 } } },
    'application/x-www-form-urlencoded': {
      schema: {
        type: 'object',
        additionalProperties: { type: ['string', 'array'], items: { type: 'string' } },
      },
    },
  },
};

const FILE_BODY = {
  required: true,
  description: 'The content of the file, or a form with a part named `file`.',
  content: {
    '*/*': { schema: {} },
    'multipart/form-data': {
      schema: {
        type: 'object',
        required: ['file'],
        properties: { file: { type: 'string', contentMediaType: 'application/octet-stream' } },
      },
    },
  },
};

const CALLBACK_BODY = {
  required: false,
  description: 'Any JSON value.',
  content: { 'application/json': { schema: {}, example: { result: 'https://files.example.com/17.pdf' } } },
};

interface Parameter {
  readonly in: string;
  readonly name: string;
  [member: string]: unknown;
}

interface Operation {
  responses: { [status: string]: { headers?: object } };
  parameters?: Parameter[];
  requestBody?: { readonly required?: boolean; readonly content: object; readonly description?: string };
  [member: string]: unknown;
}

const ID_SCHEMA = { type: 'integer', minimum: 1 };
const PATH_PARAMETERS: {
  readonly [name: string]: { readonly description: string; readonly schema: object };
} = {
  id: { description: 'ID of the resource.', schema: ID_SCHEMA },
  file: { description: 'ID of the file.', schema: { type: 'string', format: 'uuid' } },
  version: { description: 'Number of the version.', schema: ID_SCHEMA },
  hash: { description: 'The secret part of the webhook URL.', schema: { type: 'string' } },
  token: { description: 'The secret part of the callback URL.', schema: { type: 'string' } },
};
/** For lists that don't describe the parameter themselves. */
const QUERY_DESCRIPTIONS: { readonly [name: string]: string } = { status: 'Only those with this status.' };
const IDEMPOTENCY_KEY: Parameter = {
  in: 'header',
  name: 'Idempotency-Key',
  required: false,
  description:
    'Makes it safe to repeat the request: for 24 hours, the same key and body get the first response again. 1 to 255 visible ASCII characters; a UUID v4 is recommended.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  example: '5f0c8a52-3f0e-4f57-9d0c-6f5a3f4e2b11',
};
const IF_MATCH: Parameter = {
  in: 'header',
  name: 'If-Match',
  required: false,
  description: 'ETag of the state the change is based on; 412 if the resource has changed since.',
  schema: { type: 'string' },
};

/** Collects the routes into an OpenAPI 3.1 document and serves it. Register it before the routes. */
export function addOpenApi(app: FastifyInstance): void {
  const operations = new Map<string, RouteOptions>();
  app.addHook('onRoute', (route) => {
    operations.set(`${[route.method].flat()[0]} ${route.url.replace(/:(\w+)/g, '{$1}')}`, route);
  });
  app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Millrace API',
        version: 'v1',
        description: DESCRIPTION,
        contact: { name: 'Millrace' },
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      tags: [
        { name: 'Workflows', description: 'List, get, create, change and archive workflows.' },
        { name: 'Executions', description: 'Start workflows and get the results.' },
        { name: 'Files', description: 'Upload files for executions, and download theirs.' },
        {
          name: 'Webhooks',
          description: 'Start workflows from outside; the hash in the path authenticates.',
        },
        {
          name: 'Callbacks',
          description: 'Resume waiting executions; the token in the path authenticates.',
        },
        { name: 'Service', description: 'About this API.' },
      ],
      components: {
        securitySchemes: {
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            description: `An API key with the operation's scope: ${SCOPES.join(', ')}.`,
          },
        },
        schemas: structuredClone(PROBLEM_SCHEMAS) as Record<string, object>,
      },
    },
    refResolver: {
      buildLocalReference: (json, _base, _fragment, index) =>
        typeof json.$id === 'string' ? json.$id : `schema-${index}`,
    },
    transformObject: (document) => {
      if (!('openapiObject' in document)) throw new Error('the document is not an OpenAPI 3 document');
      const { openapiObject } = document;
      completeOperations(openapiObject.paths as Paths, operations);
      openapiObject.components = { ...openapiObject.components, examples: usedExamples(openapiObject.paths) };
      return openapiObject;
    },
  });
  app.register(async (scope) => serveDocument(scope));
}

function usedExamples(paths: unknown): { [code: string]: object } {
  const text = JSON.stringify(paths);
  const examples = Object.entries(problemExamples());
  return Object.fromEntries(examples.filter(([code]) => text.includes(`"#/components/examples/${code}"`)));
}

type Paths = { readonly [path: string]: { readonly [method: string]: Operation } };

/** Adds what follows from a route's declaration: its errors, its headers, its scope. */
function completeOperations(paths: Paths, routes: ReadonlyMap<string, RouteOptions>): void {
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const route = routes.get(`${method.toUpperCase()} ${path}`);
      if (route !== undefined) completeOperation(operation, route);
    }
  }
}

function completeOperation(operation: Operation, route: RouteOptions): void {
  const { scope, webhook, callback, extension, idempotent, conditional } = route.config ?? {};
  const { readsHeaders = {}, takesFile } = route.config ?? {};
  const isLimited = scope !== undefined || webhook === true || callback === true;
  const uncounted = scope === undefined ? UNCOUNTED_OF_WEBHOOKS : UNCOUNTED;
  Object.assign(operation.responses, problemResponses(errorCodes(route)));
  for (const [status, response] of Object.entries(operation.responses)) {
    response.headers = {
      ...response.headers,
      ...REQUEST_ID_HEADER,
      ...(isLimited && !uncounted.has(status) ? RATE_LIMIT_HEADERS : {}),
    };
  }
  if (webhook === true) operation.requestBody = WEBHOOK_BODY;
  else if (callback === true) operation.requestBody = CALLBACK_BODY;
  else if (takesFile === true) operation.requestBody = FILE_BODY;
  else if (operation.requestBody !== undefined && mayBeAbsent(route))
    operation.requestBody = { ...operation.requestBody, required: false };
  const declared = (operation.parameters ?? []).map((parameter) =>
    parameter.in === 'path'
      ? { ...parameter, ...PATH_PARAMETERS[parameter.name] }
      : { description: QUERY_DESCRIPTIONS[parameter.name], ...parameter },
  );
  operation.parameters = [
    ...declared,
    ...(idempotent === undefined ? [] : [IDEMPOTENCY_KEY]),
    ...(conditional === true ? [IF_MATCH] : []),
    ...Object.entries(readsHeaders).map(([name, description]) => ({
      in: 'header',
      name,
      required: false,
      description,
      schema: { type: 'string' },
    })),
  ];
  operation.security = scope === undefined ? [] : [{ apiKey: [] }];
  if (scope !== undefined) operation['x-millrace-scope'] = scope;
  if (extension === true) operation['x-millrace-extension'] = true;
}

/** Whether a request without a body is valid. */
function mayBeAbsent({ config, schema }: RouteOptions): boolean {
  const { required = [] } = (schema?.body ?? {}) as { readonly required?: readonly string[] };
  return config?.emptyBodyIsObject === true && required.length === 0;
}

function errorCodes(route: RouteOptions): ErrorCode[] {
  const { scope, webhook, callback, idempotent, conditional, problems = [] } = route.config ?? {};
  const method = [route.method].flat()[0];
  const takesBody = method !== 'GET' && method !== 'HEAD';
  return [
    ...ANYWHERE,
    ...(scope === undefined ? [] : WITH_SCOPE),
    ...(takesBody ? WITH_BODY : []),
    ...(webhook === true || callback === true ? (['rate_limited', 'not_found'] as const) : []),
    ...(idempotent === undefined ? [] : (['invalid_idempotency_key', 'idempotency_key_reused'] as const)),
    ...(conditional === true ? (['precondition_failed'] as const) : []),
    ...(route.url.includes('/:') ? (['not_found'] as const) : []),
    ...problems,
  ];
}

function serveDocument(app: FastifyInstance): void {
  app.get(
    '/api/v1/openapi.json',
    {
      config: { public: true, extension: true },
      schema: {
        operationId: 'getOpenApiDocument',
        summary: 'Get this document',
        description: 'No key needed. You can generate clients for any language from it.',
        tags: ['Service'],
        response: {
          200: {
            description: 'The OpenAPI 3.1 document of this API.',
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['openapi'],
                  properties: { openapi: { type: 'string' } },
                  additionalProperties: true,
                },
              },
            },
          },
        },
      },
    },
    async () => app.swagger(),
  );
}
