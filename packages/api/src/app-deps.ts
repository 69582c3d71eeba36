import type { Database } from '@millrace/database/database';
import type { NodeRegistry } from '@millrace/engine';
import type { Readiness } from '@millrace/http/health';
import type { Diagnosis } from '@millrace/operations/doctor/finding';
import type { AddressDeps } from '@millrace/public-addresses/deps';
import type { Executor } from '@millrace/runtime/executor';
import type { Meters } from '@millrace/runtime/meters/meters';
import type { Tracer } from '@millrace/runtime/tracing/tracer';
import type { SecretKeys } from '@millrace/secrets/keys';
import type { Logger } from 'pino';
import type { ApiSettings } from './settings.ts';

/** What the HTTP side of the service is built from; tests pass their own. */
export interface AppDeps extends AddressDeps {
  readonly config: ApiSettings;
  /** With connections of its own, for requests that are served while those of `db` are busy; `db` if undefined. */
  readonly reservedDb?: Database;
  /** How long something has been waiting for a connection of `db`, in milliseconds; 0 if undefined. */
  readonly poolWaitMs?: () => number;
  readonly log: Logger;
  /** What this process counts; if absent, nobody reads it. */
  readonly meters?: Meters;
  /** Creates spans; absent or null if none are recorded. */
  readonly tracer?: Tracer | null;
  readonly registry: NodeRegistry;
  readonly executor: Executor;
  readonly readiness: () => Promise<Readiness>;
  /** Checks what the service depends on; finds nothing if undefined. */
  readonly examine?: () => Promise<Diagnosis>;
  readonly secretKeys: SecretKeys;
  /** Folder of the built web page; if null, its address leads to the API reference. */
  readonly webPages?: string | null;
  /** How often the reader's access to a stream is checked; a few seconds if undefined. */
  readonly streamCheckMs?: number;
}
