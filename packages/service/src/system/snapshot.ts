import type { Queryable } from '@millrace/database/database';
import { endsWithin } from '@millrace/runtime/ends-within';
import type { Logger } from 'pino';
import {
  listLargestStorage,
  listLongestQueues,
  type QueueOfOrganisation,
  readServiceFacts,
  type ServiceFacts,
  type StorageOfOrganisation,
} from './metrics-store.ts';
import { type QueueRow, readQueue } from './store.ts';

/** After this, a reading is too old to be shown. */
const STALE_MS = 120_000;

/** What monitoring needs from the database. */
export interface ServiceSnapshot {
  readonly queue: QueueRow;
  readonly queues: readonly QueueOfOrganisation[];
  readonly storage: readonly StorageOfOrganisation[];
  readonly facts: ServiceFacts;
}

export interface SnapshotReading {
  /** Null if none could be read recently. */
  readonly snapshot: ServiceSnapshot | null;
  readonly ageSeconds: number;
  /** Whether the last attempt succeeded. */
  readonly isDatabaseUp: boolean;
}

export interface SnapshotOptions {
  readonly db: Queryable;
  readonly log: Logger;
  /** Minimum interval between readings. */
  readonly everyMs: number;
  /** Number of organisations listed separately. */
  readonly busiest: number;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

export type Snapshots = ReturnType<typeof createSnapshots>;

/** Reads the database for monitoring, at a minimum interval regardless of how often it is called, and never for longer than a caller can wait. */
export function createSnapshots(options: SnapshotOptions) {
  const { db, log, everyMs, busiest, now = () => performance.now() } = options;
  let snapshot: ServiceSnapshot | null = null;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let triedAtMs = Number.NEGATIVE_INFINITY;
  let isDatabaseUp = true;
  let reading: Promise<void> | null = null;

  async function readAll(): Promise<void> {
    triedAtMs = now();
    try {
      // One after the other: monitoring isn't in a hurry, and must not displace other statements.
      const queue = await readQueue(db);
      const queues = await listLongestQueues(db, busiest);
      const storage = await listLargestStorage(db, busiest);
      snapshot = { queue, queues, storage, facts: await readServiceFacts(db) };
      readAtMs = now();
      isDatabaseUp = true;
    } catch (error) {
      isDatabaseUp = false;
      log.warn({ err: error }, 'could not read the database for monitoring; retrying');
    }
  }

  return {
    /** Reads again if it is time, waiting up to `timeoutMs`, and returns the latest reading. */
    async read(timeoutMs: number): Promise<SnapshotReading> {
      if (reading === null && now() - triedAtMs >= everyMs) {
        reading = readAll().finally(() => {
          reading = null;
        });
      }
      if (reading !== null) await endsWithin(reading, timeoutMs);
      const ageMs = now() - readAtMs;
      return {
        snapshot: ageMs > STALE_MS ? null : snapshot,
        ageSeconds: ageMs / 1000,
        isDatabaseUp,
      };
    },
  };
}
