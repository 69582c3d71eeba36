import { unavailable } from '@millrace/errors/errors';
import type { Message } from '@millrace/messages';
import type { FastifyInstance } from 'fastify';

/** Whether the process can do its work now. */
export type Readiness = { readonly ready: true } | { readonly ready: false; readonly reason: Message };

/** `/healthz`: the process is alive. `/readyz`: it can do its work; this one is for load balancers. */
export function healthRoutes(app: FastifyInstance, readiness: () => Promise<Readiness>): void {
  const quiet = { public: true, produces: ['application/json', 'text/plain'] } as const;
  app.get('/healthz', { config: quiet, schema: { hide: true } }, async () => ({ status: 'alive' }));
  app.get('/readyz', { config: quiet, schema: { hide: true } }, async () => {
    const found = await readiness();
    if (!found.ready) throw unavailable('not_ready', found.reason);
    return { status: 'ready' };
  });
}
