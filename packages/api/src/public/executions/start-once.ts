import type { StartLookup } from '@millrace/service/executions/store';
import {
  checkFingerprint,
  type IdempotencyKey,
  type IdempotentResponse,
  type StoredResponse,
} from '@millrace/service/idempotency/store';

/** Starts at most one execution per Idempotency-Key; all requests with it get the first one's response. */
export type StartOnce = (
  idempotencyKey: IdempotencyKey,
  first: StartLookup,
  lookUp: () => Promise<StartLookup>,
  /** Null: a request in another process came first, and nothing was stored. */
  start: (found: StartLookup) => Promise<StoredResponse | null>,
) => Promise<IdempotentResponse>;

/**
 * Concurrent requests in this process wait for the first without querying the database; those in other processes are serialised by the
 * record's unique index.
 */
export function createStartOnce(): StartOnce {
  const underWay = new Map<string, Promise<unknown>>();

  return async (idempotencyKey, first, lookUp, start) => {
    const name = JSON.stringify([idempotencyKey.familyId, idempotencyKey.route, idempotencyKey.key]);
    for (let found = first; ; found = await lookUp()) {
      if (found.record !== null)
        return { response: checkFingerprint(idempotencyKey, found.record), replayed: true };
      const concurrentRequest = underWay.get(name);
      if (concurrentRequest !== undefined) {
        await concurrentRequest;
        continue;
      }
      const mine = start(found);
      // A failure clears the entry, so that no other request receives it.
      underWay.set(
        name,
        mine.catch(() => undefined),
      );
      try {
        const response = await mine;
        if (response !== null) return { response, replayed: false };
      } finally {
        underWay.delete(name);
      }
    }
  };
}
