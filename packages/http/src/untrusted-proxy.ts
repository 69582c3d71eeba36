import type { FastifyInstance } from 'fastify';
import type { HttpSettings } from './settings.ts';

/**
 * Warns once if a request has X-Forwarded-For although no proxy is trusted: behind a proxy all clients then share its address, in limits
 * and in the audit log. The header may be forged, so it is neither trusted nor logged.
 */
export function warnOfUntrustedProxy(
  app: FastifyInstance,
  { trustProxy }: Pick<HttpSettings, 'trustProxy'>,
): void {
  if (trustProxy !== false) return;
  let isWarned = false;
  app.addHook('onRequest', (request, _reply, done) => {
    if (!isWarned && request.headers['x-forwarded-for'] !== undefined) {
      isWarned = true;
      request.log.warn(
        { ip: request.ip },
        'A request carries X-Forwarded-For, but no proxy is trusted, so limits and the audit log see the address that connects. If that is your proxy, name it in MILLRACE_TRUST_PROXY.',
      );
    }
    done();
  });
}
