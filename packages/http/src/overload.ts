import type { Database } from '@millrace/database/database';
import { unavailable } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { Meters } from '@millrace/runtime/meters/meters';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { LoopDelay } from './loop-delay.ts';
import { Pressure } from './pressure.ts';
import type { HttpSettings } from './settings.ts';

const SAMPLE_MS = 500;
/** How long after the last request that may be refused samples are taken. Nobody needs them until the next one, and they would wake an idle process. */
const WATCHED_MS = 10_000;

interface OverloadDeps {
  readonly config: Pick<HttpSettings, 'shedding'>;
  readonly log: Logger;
  readonly meters?: Pick<Meters, 'isShedding'>;
  /** How long something has been waiting for a connection of the database, in milliseconds; 0 if undefined. */
  readonly poolWaitMs?: () => number;
}

/**
 * Refuses new starts and reads with 503 while the process or its database connections can't keep up, before anything is done for them.
 * Everything else is answered: probes, sign-in, callbacks, cancelling and changes. Nothing here opens a file, as reading memory usage
 * would: a timer that fails for lack of a descriptor ends the process.
 */
export function addOverloadProtection(
  app: FastifyInstance,
  { config, log, meters, poolWaitMs = () => 0 }: OverloadDeps,
): Pressure {
  const pressure = new Pressure(config.shedding);
  if (meters !== undefined) meters.isShedding = () => pressure.episode !== null;
  const delay = new LoopDelay();
  let sampledAt = 0;
  let requestedAt = 0;
  let timer: NodeJS.Timeout | null = null;

  function sample(): void {
    const now = performance.now();
    const sinceMs = now - sampledAt;
    sampledAt = now;
    const delayMs = delay.read(sinceMs - SAMPLE_MS, sinceMs);
    const sampled = { loopDelayMs: Math.round(delayMs), poolWaitMs: Math.round(poolWaitMs()) };
    const change = pressure.note(sampled, now);
    if (pressure.isCalm && now - requestedAt > WATCHED_MS) stop();
    if (change === null) return;
    if ('began' in change) {
      log.warn(sampled, 'overloaded: new starts and reads are refused');
    } else {
      const { refused, sinceMs } = change.ended;
      log.warn({ refused, seconds: Math.round((now - sinceMs) / 1000) }, 'overload ended');
    }
  }

  function stop(): void {
    if (timer !== null) clearInterval(timer);
    timer = null;
    delay.stop();
  }

  function watch(): void {
    requestedAt = performance.now();
    if (timer !== null) return;
    sampledAt = requestedAt;
    delay.start();
    timer = setInterval(sample, SAMPLE_MS);
    timer.unref();
  }

  app.addHook('onClose', async () => stop());
  app.addHook('onRequest', (request, _reply, done) => {
    const isStartOrRead = isSheddable(request);
    if (isStartOrRead) watch();
    const { episode } = pressure;
    if (!isStartOrRead || episode === null) {
      done();
      return;
    }
    const retryAfterSeconds = pressure.refuse(episode, performance.now());
    done(unavailable('overloaded', message('api.overloaded'), { retryAfterSeconds }));
  });
  return pressure;
}

/** New work, which adds to the load, and reads, which can be repeated at any time. */
function isSheddable({ method, routeOptions: { config } }: FastifyRequest): boolean {
  const { scope, admin, webhook, idempotent } = config;
  if (webhook === true) return true;
  const isRead = method === 'GET' || method === 'HEAD';
  if (scope !== undefined) return isRead || (scope === 'executions:execute' && idempotent !== undefined);
  // Everyone who signs in needs the other endpoints without an organisation; those of the system show what is wrong.
  if (admin === undefined || ['anyone', 'signed_in', 'system_admin'].includes(admin.access)) return false;
  return isRead || admin.startsExecutions === true;
}

/** The database, by its reserved connections while all others may be busy: for what is answered even then. */
export function whileOverloaded(pressure: Pressure, db: Database, reserved: Database): Database {
  const current = () => (pressure.episode === null ? db : reserved);
  return {
    query: (text, values, name) => current().query(text, values, name),
    large: { query: (text, values, name) => current().large.query(text, values, name) },
    transaction: (work) => current().transaction(work),
    forOrganisation: (organisationId, work) => current().forOrganisation(organisationId, work),
    readForOrganisation: (organisationId, work) => current().readForOrganisation(organisationId, work),
    listen: (channel, onNotify, onReconnect) => db.listen(channel, onNotify, onReconnect),
    close: () => db.close(),
  };
}
