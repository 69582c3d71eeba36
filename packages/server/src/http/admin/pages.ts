import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { DOCS_PATH } from '../docs-page.ts';

/** Where the web page's own router takes over; everything else that is unknown stays a 404. */
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
/** In index.html, replaced in every answer: style sheets that libraries add at run time carry it. */
const NONCE_PLACEHOLDER = '__CSP_NONCE__';

/** The folder with the web page as it was built last; null when it was not built. */
export function findWebPages(): string | null {
  const builds = fileURLToPath(new URL('../../../../web/dist', import.meta.url));
  const current = join(builds, 'current');
  return existsSync(current) ? join(builds, readFileSync(current, 'utf8')) : null;
}

/** Serves the admin area: one page, whose scripts do the rest, under a policy that lets nothing else run. */
export function addAdminPages(app: FastifyInstance, folder: string | null): void {
  const config = { public: true, produces: ['text/html'] } as const;
  const schema = { hide: true } as const;
  if (folder === null) {
    // Whoever opens the address that the start printed must find something to read.
    app.register(async (scope) => {
      scope.get('/', { config, schema }, (_request, reply) => reply.redirect(DOCS_PATH));
    });
    return;
  }
  const [before = '', ...after] = readFileSync(join(folder, 'index.html'), 'utf8').split(NONCE_PLACEHOLDER);
  app.register(async (scope) => {
    for (const path of PAGE_PATHS) {
      scope.get(path, { config, schema }, (_request, reply) => {
        const nonce = randomBytes(16).toString('base64');
        return reply
          .header('content-security-policy', policyWith(nonce))
          .header('cache-control', 'no-store')
          .type('text/html; charset=utf-8')
          .serializer((text: unknown) => text as string)
          .send([before, ...after].join(nonce));
      });
    }
    await scope.register(fastifyStatic, {
      root: join(folder, 'assets'),
      prefix: `${ASSETS_PATH}/`,
      schemaHide: true,
      // Their names carry a hash of their content.
      immutable: true,
      maxAge: '365d',
      index: false,
      preCompressed: true,
    });
  });
}

function policyWith(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}
