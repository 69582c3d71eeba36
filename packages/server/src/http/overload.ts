import underPressure from '@fastify/under-pressure';
import type { FastifyInstance } from 'fastify';
import { unavailable } from './problem.ts';

/** The event loop lags this long on average over a second; a large body alone does not do that. */
const LONGEST_LAG_MS = 2_000;
/** A single pause (a start, a garbage collection, a machine that slept) shows in the second after it; overload lasts. */
const LASTING_MS = 3_000;
/** Samples are a second apart, so a gap longer than this means that the lag was over in between. */
const GAP_MS = 2_500;

/** Refuses requests with 503 while the process cannot keep up with them. */
export function addOverloadProtection(app: FastifyInstance): void {
  let since = 0;
  let last = Number.NEGATIVE_INFINITY;
  app.register(underPressure, {
    maxEventLoopDelay: LONGEST_LAG_MS,
    pressureHandler: (request) => {
      const now = performance.now();
      if (now - last > GAP_MS) since = now;
      last = now;
      // Probes must be answered, or a busy process would be taken for a dead one.
      if (now - since < LASTING_MS || isProbe(request.routeOptions.url)) return;
      throw unavailable(
        'overloaded',
        'The service is overloaded. Send the request again after the time in Retry-After.',
      );
    },
  });
}

function isProbe(url: string | undefined): boolean {
  return url === '/healthz' || url === '/readyz';
}
