import type { Logger } from 'pino';
import { type Config, loadConfig } from '../config.ts';
import { type Roles, type Service, startService } from '../main.ts';
import { announce, announceJson } from './announce.ts';
import { createLog } from './log.ts';

/** Longest time an orderly stop may take beyond what executions are given. */
const STOP_MARGIN_MS = 30_000;

/**
 * Runs the service in this process until it is told to stop (Ctrl-C, SIGTERM), with everything people see of it:
 * progress, the address, the first key. Resolves when it has stopped.
 *
 * @param asJson standard output carries one line of JSON once the service is ready, and nothing else
 * @throws ConfigError, and errors with a text for the user when it cannot start
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
    tell('Millrace has stopped.');
    return;
  }
  stopSignal.onForce = () => service.stopWithoutWaiting();
  guardProcess(log, service);
  process.stdout.write(`${asJson ? announceJson(service, config) : announce(service, config)}\n`);
  await stopSignal.received;
  tell('Stopping: requests and executions under way are finished. Ctrl-C again stops at once.');
  await stopInTime(service, config, log);
  tell('Millrace has stopped.');
}

/** The first signal asks for an orderly stop, also while the service is starting; the second ends the process. */
class StopSignal {
  readonly received: Promise<void>;
  readonly #abort = new AbortController();
  /** Called before the process is ended. */
  onForce: () => void = () => {};

  constructor(log: Logger) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.received = promise;
    let count = 0;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        count += 1;
        resolve();
        this.#abort.abort();
        if (count === 1) return;
        log.warn({ signal }, 'stopped by force');
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

/** An error that nobody handled leaves the process in a state that nobody knows: it is logged and the process ends. */
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
    log.error('the orderly stop took too long');
    service.stopWithoutWaiting();
    process.exit(1);
  }, config.worker.shutdownGraceMs + STOP_MARGIN_MS);
  await service.stop();
  clearTimeout(timer);
}
