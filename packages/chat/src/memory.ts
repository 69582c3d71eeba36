import { createHash } from 'node:crypto';
import type { Database, Queryable } from '@millrace/database/database';
import { type MemoryService, type MemoryTurn, ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import type { Caller } from '@millrace/runtime/node-services';
import { retryForNode } from '@millrace/runtime/retry-for-node';
import {
  findMemory,
  keepMemoryLimits,
  lockMemory,
  openMemory,
  putMemory,
  type StoredTurn,
} from './memory-store.ts';

const MAX_KEY = 255;
/** Turns of one conversation that are stored; nodes read fewer. */
export const MAX_STORED_TURNS = 100;
/** Bytes of what one conversation remembers as JSON, without its summary. */
const MAX_TURNS_BYTES = 256 * 1024;
/** Characters of one message that are remembered. */
const MAX_MESSAGE_CHARS = 32_000;
const MAX_SUMMARY_CHARS = 8_000;

export interface MemoryLimits {
  /** Of one organisation. */
  readonly memories: number;
  /** Of all memories of an organisation. */
  readonly bytes: number;
}

/** What has been unused for longest is forgotten first. */
export const MEMORY_LIMITS: MemoryLimits = { memories: 10_000, bytes: 256 * 1024 * 1024 };

/**
 * What models remember of conversations, for each workflow and key. A turn is remembered once, however often its node runs; a node that runs
 * again doesn't read its own.
 */
export function createMemoryService(
  db: Database,
  limits: MemoryLimits = MEMORY_LIMITS,
): (caller: Caller) => MemoryService {
  return (caller) => {
    const { organisationId, workflowId } = caller;
    const by = createHash('sha256').update(caller.idempotencyKey).digest('base64url').slice(0, 22);
    const transaction = <T>(work: (tx: Queryable) => Promise<T>): Promise<T> =>
      retryForNode(() => db.forOrganisation(organisationId, work));
    return {
      async read(key) {
        checkKey(key);
        const found = await transaction((tx) => findMemory(tx, { organisationId, workflowId, key }));
        const turns = (found?.turns ?? []).filter((turn) => turn.by !== by);
        return { summary: found?.summary ?? null, turns: turns.map(plain) };
      },
      async remember(key, turn, { summary, ttlS }) {
        checkKey(key);
        const of = { organisationId, workflowId, key };
        await transaction(async (tx) => {
          await openMemory(tx, of);
          const found = await lockMemory(tx, of);
          if (found === undefined) throw new Error('a memory is gone although it was opened');
          if (found.turns.some((stored) => stored.by === by)) return;
          // Only what the summary has been made of is left out; others may have been added since.
          const kept = summary === null ? found.turns : found.turns.slice(coveredBy(summary, found.turns));
          const turns = fitting([
            ...kept,
            { by, user: stored(turn.user), assistant: stored(turn.assistant) },
          ]);
          await putMemory(tx, of, {
            turns: JSON.stringify(turns),
            summary: summary === null ? found.summary : stored(summary.text).slice(0, MAX_SUMMARY_CHARS),
            ttlS,
          });
          await keepMemoryLimits(tx, of, limits);
        });
      },
    };
  };
}

/** How many of the oldest stored turns the summary covers: as many as it was made of, up to the last of those. */
function coveredBy({ of }: { readonly of: readonly MemoryTurn[] }, turns: readonly StoredTurn[]): number {
  const last = of.at(-1);
  if (last === undefined) return 0;
  return turns.findLastIndex(({ user, assistant }) => user === last.user && assistant === last.assistant) + 1;
}

function plain({ user, assistant }: StoredTurn): MemoryTurn {
  return { user, assistant };
}

/** PostgreSQL stores neither NUL nor halves of pairs. */
function stored(text: string): string {
  const cut = text.length <= MAX_MESSAGE_CHARS ? text : `${text.slice(0, MAX_MESSAGE_CHARS)}…`;
  return cut.replaceAll('\0', '\uFFFD').toWellFormed();
}

/** The newest turns that fit. */
function fitting(turns: readonly StoredTurn[]): readonly StoredTurn[] {
  let bytes = 2;
  const newest = turns.slice(-MAX_STORED_TURNS);
  for (let at = newest.length - 1; at >= 0; at -= 1) {
    bytes += Buffer.byteLength(JSON.stringify(newest[at])) + 1;
    if (bytes > MAX_TURNS_BYTES) return newest.slice(at + 1);
  }
  return newest;
}

function checkKey(key: string): void {
  const length = [...key].length;
  if (length >= 1 && length <= MAX_KEY && key.isWellFormed() && !key.includes('\0')) return;
  throw new ServiceError('invalid_memory_key', message('ports.memory_key', { max: MAX_KEY, length }));
}
