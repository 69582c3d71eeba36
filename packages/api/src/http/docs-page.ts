import { createHash } from 'node:crypto';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import Fastify, { type FastifyInstance } from 'fastify';

export const DOCS_PATH = '/docs';
const PATHS = [DOCS_PATH, `${DOCS_PATH}/`, `${DOCS_PATH}/js/scalar.js`];

interface Loaded {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const NOTHING: Loaded = { status: 404, headers: {}, body: '' };
/** In all services of this process: the responses never change. */
let loaded: Promise<ReadonlyMap<string, Loaded>> | null = null;

/** What Scalar responds with at each path. Its script takes 10 MB of memory, so it is loaded when somebody first reads the reference. */
function load(): Promise<ReadonlyMap<string, Loaded>> {
  loaded ??= ask().catch((error: unknown) => {
    loaded = null;
    throw error;
  });
  return loaded;
}

async function ask(): Promise<ReadonlyMap<string, Loaded>> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const app = Fastify();
  await app.register(scalar, { routePrefix: DOCS_PATH, configuration: CONFIGURATION });
  const responses = await Promise.all(
    PATHS.map(async (path) => {
      const { statusCode, headers, body } = await app.inject(path);
      const { 'content-type': type, location } = headers;
      const kept = Object.entries({ 'content-type': type, location }).filter(
        ([, value]) => value !== undefined,
      );
      return [path, { status: statusCode, headers: Object.fromEntries(kept), body }] as [string, Loaded];
    }),
  );
  await app.close();
  return new Map(responses);
}

const CONFIGURATION = {
  url: '/api/v1/openapi.json',
  pageTitle: 'Millrace API',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
} as const;

/** Serves the API reference as a page that loads nothing external and runs only its own script. */
export function addDocsPage(app: FastifyInstance): void {
  app.register(async (scope) => {
    scope.addHook('onSend', async (_request, reply, payload) => {
      const type = String(reply.getHeader('content-type') ?? '');
      if (type.startsWith('text/html') && typeof payload === 'string') {
        reply.header('content-security-policy', policyFor(payload));
      }
      if (type.startsWith('application/javascript')) reply.header('cache-control', 'public, max-age=3600');
      return payload;
    });
    scope.addHook('onRequest', async (request) => {
      if (!URL.canParse(`http://${request.host}`)) {
        throw new ApiError('invalid_request', message('api.host_malformed'));
      }
    });
    for (const path of PATHS) {
      scope.get(path, { schema: { hide: true } }, async (_request, reply) => {
        const { status, headers, body } = (await load()).get(path) ?? NOTHING;
        return reply.code(status).headers(headers).send(body);
      });
    }
  });
}

/** Allows the bundle from this origin, and this page's inline scripts by their hashes. */
function policyFor(html: string): string {
  const inline = [...html.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map((match) => match[1] ?? '');
  const hashes = inline
    .filter((script) => script.trim() !== '')
    .map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  return [
    "default-src 'none'",
    `script-src 'self' ${hashes.join(' ')}`.trim(),
    // The bundle adds its style sheet to the page at run time.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
