import type { Queryable } from '@millrace/database/database';
import type { FileStore } from '@millrace/files/file-store';
import { listStoredAcross, listStoredOf } from './store.ts';

/** How many files are looked at in each of the 256 folders they are divided into. */
const FILES_PER_FOLDER = 40;
/** A network file system may take a millisecond for each. */
const AT_ONCE = 16;
/** Somebody waits for the result. */
const MAX_MS = 5_000;

/** What of the files that should be there was looked at. */
export interface ContentsSeen {
  readonly looked: number;
  /** Ids of those that weren't there, or not with their size. */
  readonly missing: readonly string[];
}

/** Whether stored files have content: all of them, or as many of each folder as can be looked at soon. Doesn't read what is in them. */
export async function lookForContents(
  db: Queryable,
  store: FileStore,
  now: () => number = () => performance.now(),
): Promise<ContentsSeen> {
  const files = await listStoredAcross(db, FILES_PER_FOLDER);
  const endsAt = now() + MAX_MS;
  const absent: string[] = [];
  let looked = 0;
  while (looked < files.length && now() < endsAt) {
    const batch = files.slice(looked, looked + AT_ONCE);
    const found = await Promise.all(batch.map(({ id, size }) => store.has(id, size)));
    absent.push(...batch.filter((_, index) => found[index] === false).map(({ id }) => id));
    looked += batch.length;
  }
  // Without those that were deleted meanwhile: their rows go first.
  return { looked, missing: absent.length === 0 ? [] : await listStoredOf(db, absent) };
}
