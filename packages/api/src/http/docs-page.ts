import { createHash } from 'node:crypto';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import scalar from '@scalar/fastify-api-reference';
import type { FastifyInstance } from 'fastify';

export const DOCS_PATH = '/docs';

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
    await scope.register(scalar, {
      routePrefix: DOCS_PATH,
      hooks: {
        onRequest: (request, _reply, done) => {
          // The page's redirect is built from the Host header, which a client can set to anything.
          const isHost = URL.canParse(`http://${request.host}`);
          done(isHost ? undefined : new ApiError('invalid_request', message('api.host_malformed')));
        },
      },
      configuration: {
        url: '/api/v1/openapi.json',
        pageTitle: 'Millrace API',
        withDefaultFonts: false,
        telemetry: false,
        hideClientButton: true,
        showDeveloperTools: 'never',
        agent: { disabled: true },
        mcp: { disabled: true },
      },
    });
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
