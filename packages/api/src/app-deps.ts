import type { Database } from '@millrace/database/database';
import type { Egress } from '@millrace/egress/egress';
import type { NodeRegistry } from '@millrace/engine';
import type { Files } from '@millrace/files/files';
import type { Readiness } from '@millrace/http/health';
import type { Diagnosis } from '@millrace/operations/doctor/finding';
import type { Executor } from '@millrace/runtime/executor';
import type { Meters } from '@millrace/runtime/meters/meters';
import type { ExecutionNotifier } from '@millrace/runtime/notifier';
import type { PlanCache } from '@millrace/runtime/plans';
import type { Tracer } from '@millrace/runtime/tracing/tracer';
import type { SecretKeys } from '@millrace/secrets/keys';
import type { OpenSecret } from '@millrace/service/webhooks/secrets';
import type { Logger } from 'pino';
import type { ApiSettings } from './settings.ts';

/** What the HTTP side of the service is built from; tests pass their own. */
export interface AppDeps {
  readonly config: ApiSettings;
  readonly db: Database;
  /** By connections of its own, for what is answered while those of `db` are busy; `db` if undefined. */
  readonly reservedDb?: Database;
  /** How long something has been waiting for a connection of `db`, in milliseconds; 0 if undefined. */
  readonly poolWaitMs?: () => number;
  readonly log: Logger;
  /** What this process counts; if absent, nobody reads it. */
  readonly meters?: Meters;
  /** Makes spans; absent or null if none are recorded. */
  readonly tracer?: Tracer | null;
  readonly registry: NodeRegistry;
  readonly plans: PlanCache;
  readonly executor: Executor;
  readonly notifier: ExecutionNotifier;
  readonly readiness: () => Promise<Readiness>;
  /** Looks at what the service depends on; nothing is found if undefined. */
  readonly examine?: () => Promise<Diagnosis>;
  readonly secretKeys: SecretKeys;
  /** For calls that people test before a workflow makes them. */
  readonly egress: Egress;
  readonly files: Files;
  /** Folder of the built web page; if null, its address leads to the API reference. */
  readonly webPages?: string | null;
  /** How often the reader's access to a stream is checked; a few seconds if undefined. */
  readonly streamCheckMs?: number;
  /** Decrypts the secrets that webhook signatures are checked with. */
  readonly openSecret: OpenSecret;
}
