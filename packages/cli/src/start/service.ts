import type { PgDatabase } from '@millrace/database/pool';
import type { Logger } from 'pino';
import type { Config } from '../settings/config.ts';
import type { FirstStart } from './first-start.ts';

/** The roles of this process; at least one of them. */
export interface Roles {
  readonly api: boolean;
  readonly worker: boolean;
}

export interface StartOptions {
  readonly config: Config;
  readonly roles: Roles;
  readonly log: Logger;
  /** Called with a human-readable message for slow steps. */
  readonly progress?: (text: string) => void;
  /** Stops waiting for an unavailable database; the start then throws the signal's reason. */
  readonly signal?: AbortSignal;
}

/** The running service. */
export interface Service {
  /** Base URL on this machine; null without the API. */
  readonly address: string | null;
  /** The actual port; null without the API. */
  readonly port: number | null;
  /** The initial content of an empty database; null if it wasn't empty. */
  readonly firstStart: FirstStart | null;
  /** Link for creating the first account; only set at the first start, and only if it may be printed. */
  readonly setupUrl: string | null;
  /** Nobody has an account yet. */
  readonly needsSetup: boolean;
  /** Where this process serves its metrics; null if it doesn't. */
  readonly metricsUrl: string | null;
  readonly db: PgDatabase;
  /** Stops requests and executions in progress, then PostgreSQL. Safe to call twice. */
  stop(): Promise<void>;
  /** For a process that must end now: the embedded PostgreSQL stops by itself. */
  stopWithoutWaiting(): void;
}
