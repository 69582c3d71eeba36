import { createHash } from 'node:crypto';
import { loadOnce } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import Fastify, { type FastifyInstance } from 'fastify';
import { prepareStaticBody, type StaticBody, sendStaticBody } from './static-body.ts';

export const DOCS_PATH = '/docs';
const PATHS = [DOCS_PATH, `${DOCS_PATH}/`, `${DOCS_PATH}/js/scalar.js`];

interface Loaded {
  readonly status: number;
  readonly location: string | null;
  readonly content: StaticBody | null;
  /** Of a page: what it may load and run. */
  readonly policy: string | null;
}

/**
 * What Scalar responds with at each path. Its script takes 10 MB of memory, so it is loaded when somebody first reads the reference. Shared
 * by all services of this process: the responses never change.
 */
const load = loadOnce(ask);

async function ask(): Promise<ReadonlyMap<string, Loaded>> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const app = Fastify();
  await app.register(scalar, { routePrefix: DOCS_PATH, configuration: CONFIGURATION });
  const responses = await Promise.all(
    PATHS.map(async (path) => {
      const { statusCode: status, headers, body } = await app.inject(path);
      const { 'content-type': type, location = null } = headers;
      const isPage = String(type).startsWith('text/html');
      const loaded: Loaded = {
        status,
        location,
        content: type === undefined ? null : await prepareStaticBody(String(type), body),
        policy: isPage ? policyFor(body) : null,
      };
      return [path, loaded] as const;
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
    scope.addHook('onRequest', async (request) => {
      if (!URL.canParse(`http://${request.host}`)) {
        throw new ApiError('invalid_request', message('api.host_malformed'));
      }
    });
    for (const path of PATHS) {
      scope.get(path, { schema: { hide: true } }, async (request, reply) => {
        const found = (await load()).get(path);
        if (found === undefined) throw new ApiError('not_found', message('api.path_not_found'));
        const { status, location, content, policy } = found;
        if (policy !== null) reply.header('content-security-policy', policy);
        if (location !== null) reply.header('location', location);
        if (content === null) return reply.code(status).send();
        // A page may change with an update of the service; its script has the same name afterwards, too.
        reply.header('cache-control', policy === null ? 'public, max-age=3600' : 'no-cache');
        return sendStaticBody(request, reply.code(status), content);
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
