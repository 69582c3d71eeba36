import type { StartLookup } from '@millrace/service/executions/store';
import {
  checkFingerprint,
  type IdempotencyClaim,
  type IdempotentAnswer,
  type StoredAnswer,
} from '@millrace/service/idempotency/store';

/** Starts at most one execution per Idempotency-Key; all twins get the first one's answer. */
export type StartOnce = (
  claim: IdempotencyClaim,
  first: StartLookup,
  lookUp: () => Promise<StartLookup>,
  /** Null: a twin in another process came first, and nothing was stored. */
  start: (found: StartLookup) => Promise<StoredAnswer | null>,
) => Promise<IdempotentAnswer>;

/** Twins in this process wait for the first without asking the database; those elsewhere meet at the record's unique index. */
export function createStartOnce(): StartOnce {
  const underWay = new Map<string, Promise<unknown>>();

  return async (claim, first, lookUp, start) => {
    const name = JSON.stringify([claim.familyId, claim.route, claim.key]);
    for (let found = first; ; found = await lookUp()) {
      if (found.record !== null) return { answer: checkFingerprint(claim, found.record), replayed: true };
      const twin = underWay.get(name);
      if (twin !== undefined) {
        await twin;
        continue;
      }
      const mine = start(found);
      // A twin that failed leaves the way free for the next, so nobody is told of another's failure.
      underWay.set(
        name,
        mine.catch(() => undefined),
      );
      try {
        const answer = await mine;
        if (answer !== null) return { answer, replayed: false };
      } finally {
        underWay.delete(name);
      }
    }
  };
}
