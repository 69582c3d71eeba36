import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DOCS_PATH } from './docs-page.ts';
import { accepts } from './negotiation.ts';

/** Where the web page's own router takes over; everything else that is unknown is a 404. */
const PAGE_PATHS = [
  '/',
  '/setup',
  '/sign-in',
  '/invitation',
  '/account',
  '/account/*',
  '/system',
  '/system/*',
  '/o/:org',
  '/o/:org/*',
];
/** Where scripts, style sheets and pictures are. */
export const ASSETS_PATH = '/assets';
/** Below these, and what the interface is often thought to be below, programs ask and no reader has mistyped a page. */
const MACHINE_PATHS = ['/api', '/webhooks', '/healthz', '/readyz', DOCS_PATH, ASSETS_PATH];
/** Below these the service answers by itself; anything else is the page or a file of it. */
export const SERVICE_PATHS: readonly string[] = MACHINE_PATHS.filter((path) => path !== ASSETS_PATH);
/** In index.html, replaced in every answer: style sheets that libraries add at run time carry it. */
const NONCE_PLACEHOLDER = '__CSP_NONCE__';

/** The folder with the web page as it was built last; null when it was not built. */
export function findWebPages(): string | null {
  const builds = fileURLToPath(new URL('../../../web/dist', import.meta.url));
  const current = join(builds, 'current');
  return existsSync(current) ? join(builds, readFileSync(current, 'utf8')) : null;
}

/** The admin area as it was built: one page, whose scripts show what belongs at its address. */
export interface AdminPages {
  readonly folder: string;
  /** Answers with the page, under a policy that lets nothing but its own scripts run. */
  send(reply: FastifyReply): FastifyReply;
}

/** Reads the page; there is none without a folder. */
export function openAdminPages(folder: string | null): AdminPages | null {
  if (folder === null) return null;
  const [before = '', ...after] = readFileSync(join(folder, 'index.html'), 'utf8').split(NONCE_PLACEHOLDER);
  return {
    folder,
    send(reply) {
      const nonce = randomBytes(16).toString('base64');
      return reply
        .header('content-security-policy', pagePolicy(nonce))
        .header('cache-control', 'no-store')
        .type('text/html; charset=utf-8')
        .serializer((text: unknown) => text as string)
        .send([before, ...after].join(nonce));
    },
  };
}

/**
 * Whether a reader has opened an address where nothing is, rather than a program. Browsers tell Sec-Fetch-Mode over
 * https and to this machine only, so what they accept counts as well.
 */
export function isLostReader({ method, headers }: FastifyRequest, path: string): boolean {
  const { accept = '', 'sec-fetch-mode': mode = 'navigate' } = headers;
  const namesPages = /\btext\/html\b/i.test(accept) && accepts(accept, 'text/html');
  if (method !== 'GET' || mode !== 'navigate' || !namesPages) return false;
  return !MACHINE_PATHS.some((known) => path === known || path.startsWith(`${known}/`));
}

/** Serves the admin area. */
export function addAdminPages(app: FastifyInstance, pages: AdminPages | null): void {
  const config = { public: true, produces: ['text/html'] } as const;
  const schema = { hide: true } as const;
  if (pages === null) {
    // Whoever opens the address that the start printed must find something to read.
    app.register(async (scope) => {
      scope.get('/', { config, schema }, (_request, reply) => reply.redirect(DOCS_PATH));
    });
    return;
  }
  app.register(async (scope) => {
    for (const path of PAGE_PATHS)
      scope.get(path, { config, schema }, (_request, reply) => pages.send(reply));
    scope.setErrorHandler((error) => {
      throw toAssetError(error);
    });
    await scope.register(fastifyStatic, {
      root: join(pages.folder, 'assets'),
      prefix: `${ASSETS_PATH}/`,
      // A route for each file that there is: any other address is unknown, and none is looked up on the disk.
      wildcard: false,
      // They are short, and what is wrong with a range would be one more way to fail.
      acceptRanges: false,
      schemaHide: true,
      // Their names carry a hash of their content.
      immutable: true,
      maxAge: '365d',
      index: false,
      preCompressed: true,
    });
  });
}

/** Refusals of the plug-in carry a status and no code of ours. */
function toAssetError(error: unknown): unknown {
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  if (status === 412) return new ApiError('precondition_failed', message('api.file_changed'));
  return status >= 400 && status < 500 ? new ApiError('not_found', message('api.path_not_found')) : error;
}

/** What a page that isn't built yet needs beyond its own files. */
interface Loosening {
  /** Inline scripts run if they carry the nonce. */
  readonly inlineScripts: boolean;
  readonly connections: readonly string[];
}

/** The page's Content-Security-Policy. @param nonce carried by style sheets that are added at run time */
export function pagePolicy(
  nonce: string,
  { inlineScripts, connections }: Loosening = { inlineScripts: false, connections: [] },
): string {
  return [
    "default-src 'none'",
    `script-src 'self'${inlineScripts ? ` 'nonce-${nonce}'` : ''}`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    ["connect-src 'self'", ...connections].join(' '),
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}
