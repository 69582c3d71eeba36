import { flushCompileCache } from 'node:module';
import type { Logger } from 'pino';
import { type Config, isLoopback, loadConfig } from '../settings/config.ts';
import { announce, announceJson } from './announce.ts';
import { createLog } from './log.ts';
import type { Roles, Service } from './service.ts';
import { startService } from './start-service.ts';
import { trimHeapSoon } from './trim-heap.ts';

/** Maximum duration of a graceful stop beyond the time executions get. */
const STOP_MARGIN_MS = 30_000;

/**
 * Runs the service in this process until it is told to stop (Ctrl-C, SIGTERM), including all its output: progress, the address, the first
 * key. Resolves when it has stopped.
 *
 * @param asJson standard output gets one line of JSON once the service is ready, and nothing else
 * @throws ConfigError, and errors with a message for the user if it can't start
 */
export async function runService(roles: Roles, asJson = false): Promise<void> {
  const config = loadConfig();
  const { log, flush } = createLog(config.logLevel);
  process.once('exit', flush);
  const stopSignal = new StopSignal(log);
  const tell = (text: string) => (asJson ? log.info(text) : process.stdout.write(`${text}\n`));
  const progress = (text: string) => tell(`${text} ...`);
  const { signal } = stopSignal;
  const service = await startService({ config, roles, log, progress, signal }).catch((error: unknown) => {
    if (error === signal.reason) return null;
    throw error;
  });
  if (service === null) {
    tell('Millrace stopped.');
    return;
  }
  stopSignal.onForce = () => service.stopWithoutWaiting();
  guardProcess(log, service);
  warnOfForgedAddresses(config, log);
  process.stdout.write(`${asJson ? announceJson(service, config) : announce(service, config)}\n`);
  // By default it is written at exit, which a killed service doesn't reach.
  flushCompileCache();
  trimHeapSoon();
  await stopSignal.received;
  tell(
    'Stopping after running requests and executions have finished. Press Ctrl-C again to stop immediately.',
  );
  await stopInTime(service, config, log);
  tell('Millrace stopped.');
}

/** With a number of proxies, the address claimed by a client is trusted, whoever the client is. */
function warnOfForgedAddresses({ trustProxy, host }: Config, log: Logger): void {
  if (typeof trustProxy !== 'number' || isLoopback(host)) return;
  log.warn(
    { host, proxies: trustProxy },
    'anyone who reaches this port directly can claim any address: let only the proxy reach it, or set the addresses of the proxies, such as MILLRACE_TRUST_PROXY=10.0.0.5',
  );
}

/** One Ctrl-C may arrive several times: from the terminal, from npm, and from the launcher of this process. */
const SAME_WISH_MS = 2_000;

/** The first signal requests a graceful stop, even during the start; a later one ends the process. */
class StopSignal {
  readonly received: Promise<void>;
  readonly #abort = new AbortController();
  /** Called before the process is ended. */
  onForce: () => void = () => {};

  constructor(log: Logger) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.received = promise;
    let firstAt: number | null = null;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        firstAt ??= performance.now();
        resolve();
        this.#abort.abort();
        if (performance.now() - firstAt < SAME_WISH_MS) return;
        log.warn({ signal }, 'forced to stop');
        this.onForce();
        process.exit(130);
      });
    }
  }

  /** Aborted with the first signal. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }
}

/** After an unhandled error the process's state is unknown: it is logged and the process ends. */
function guardProcess(log: Logger, service: Service): void {
  const end = (what: string) => (error: unknown) => {
    log.fatal({ err: error }, what);
    service.stopWithoutWaiting();
    process.exit(1);
  };
  process.on('uncaughtException', end('uncaught exception'));
  process.on('unhandledRejection', end('unhandled rejection'));
}

async function stopInTime(service: Service, config: Config, log: Logger): Promise<void> {
  const timer = setTimeout(() => {
    log.error('graceful shutdown took too long');
    service.stopWithoutWaiting();
    process.exit(1);
  }, config.worker.shutdownGraceMs + STOP_MARGIN_MS);
  await service.stop();
  clearTimeout(timer);
}
