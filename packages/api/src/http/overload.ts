import { monitorEventLoopDelay } from 'node:perf_hooks';
import { unavailable } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { FastifyInstance } from 'fastify';

/** Average event loop lag over a second; a single large body doesn't cause that. */
const LONGEST_LAG_MS = 2_000;
/** A single pause (a start, a garbage collection, a machine waking up) shows in the second after it; overload lasts. */
const LASTING_MS = 3_000;
const SAMPLE_MS = 1_000;
const RESOLUTION_MS = 10;

/**
 * Refuses requests with 503 while the process can't keep up. Nothing here opens a file, as reading memory usage would: a timer that fails
 * for lack of a descriptor ends the process.
 */
export function addOverloadProtection(app: FastifyInstance): void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let laggingSince: number | null = null;
  const timer = setInterval(() => {
    // No measurements at all means that the loop was blocked for the whole second.
    const lagMs = Number.isNaN(delays.mean) ? Number.POSITIVE_INFINITY : delays.mean / 1e6 - RESOLUTION_MS;
    delays.reset();
    laggingSince = lagMs > LONGEST_LAG_MS ? (laggingSince ?? performance.now()) : null;
  }, SAMPLE_MS);
  timer.unref();
  app.addHook('onClose', async () => {
    clearInterval(timer);
    delays.disable();
  });
  app.addHook('onRequest', async (request) => {
    if (laggingSince === null || performance.now() - laggingSince < LASTING_MS) return;
    // Probes need a response, or a busy process would be considered dead.
    if (isProbe(request.routeOptions.url)) return;
    throw unavailable('overloaded', message('api.overloaded'));
  });
}

function isProbe(url: string | undefined): boolean {
  return url === '/healthz' || url === '/readyz';
}
