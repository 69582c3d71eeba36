import { unavailable } from '@millrace/errors/errors';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from './app-deps.ts';

/** `/healthz`: the process is alive. `/readyz`: it can do its work; this one is for load balancers. */
export function healthRoutes(app: FastifyInstance, deps: AppDeps): void {
  const quiet = { public: true, produces: ['application/json', 'text/plain'] } as const;
  app.get('/healthz', { config: quiet, schema: { hide: true } }, async () => ({ status: 'alive' }));
  app.get('/readyz', { config: quiet, schema: { hide: true } }, async () => {
    const readiness = await deps.readiness();
    if (!readiness.ready) throw unavailable('not_ready', readiness.reason);
    return { status: 'ready' };
  });
}
