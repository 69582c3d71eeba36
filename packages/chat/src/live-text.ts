import type { Database, Queryable } from '@millrace/database/database';
import type { Caller } from '@millrace/runtime/node-services';
import type { ExecutionNotifier } from '@millrace/runtime/notifier';

/** How often a text is stored while it grows: often enough to be read as it is written. */
const WRITE_EVERY_MS = 200;
/** What a visitor can follow; of a longer text, the end comes with the answer. */
const MAX_LIVE_CHARS = 32_000;
/** Whoever wrote before and has stopped for so long has ended, with its process perhaps. */
const SILENT_S = 15;

/** Takes what a model writes, for whoever waits for it. */
export interface LiveText {
  /** Never throws, never waits. */
  add(text: string): void;
  /** The model has ended: what hasn't been stored yet comes with the answer. */
  close(): void;
}

/**
 * Passes on what a model writes to the pages that wait for it, through the database, because they may be connected to another process. It is
 * a courtesy: if it can't be stored, the answer comes at once when it is complete.
 * @returns for a call of a model: null if nobody may follow it
 */
export function createLiveTexts(
  db: Pick<Database, 'forOrganisation'>,
  notifier: Pick<ExecutionNotifier, 'changed'>,
): (caller: Caller, secret: string | null) => LiveText | null {
  return (caller, secret) => {
    // What an agent's tools write isn't what it says, and of many iterations none is the answer.
    if (caller.isTool === true || caller.iteration.length > 0) return null;
    let text = '';
    let timer: NodeJS.Timeout | null = null;
    let isWriting = false;
    let isStale = false;
    let isOff = false;
    let lastWriteAt = Number.NEGATIVE_INFINITY;

    async function write(): Promise<void> {
      timer = null;
      if (isOff || isWriting) return;
      isWriting = true;
      isStale = false;
      lastWriteAt = performance.now();
      const shown = withoutSecret(text, secret);
      try {
        const isShown = await db.forOrganisation(caller.organisationId, (tx) => putText(tx, caller, shown));
        if (isShown) notifier.changed([caller.executionId]);
        else isOff = true;
      } catch {
        // The database may be away for a moment; the next piece tries again.
      }
      isWriting = false;
      if (isStale) schedule();
    }

    function schedule(): void {
      if (isOff || timer !== null) return;
      // The first words at once, the rest at intervals.
      const afterMs = Math.max(0, lastWriteAt + WRITE_EVERY_MS - performance.now());
      timer = setTimeout(() => void write(), afterMs);
      timer.unref();
    }

    return {
      add(more) {
        if (isOff || text.length >= MAX_LIVE_CHARS) return;
        text = (text + more).slice(0, MAX_LIVE_CHARS);
        isStale = true;
        if (!isWriting) schedule();
      },
      close() {
        isOff = true;
        if (timer !== null) clearTimeout(timer);
        timer = null;
      },
    };
  };
}

/** Neither the key of the provider nor the beginning of one that may be under way. */
export function withoutSecret(text: string, secret: string | null): string {
  if (secret === null || secret.length < 4) return text;
  const masked = text.replaceAll(secret, '***');
  const most = Math.min(secret.length - 1, masked.length);
  for (let length = most; length > 0; length -= 1)
    if (masked.endsWith(secret.slice(0, length))) return masked.slice(0, -length);
  return masked;
}

/** @returns false if nobody follows this node, or another one is writing */
async function putText(tx: Queryable, caller: Caller, text: string): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE chat_streams SET text = $5, writer = $4, written_at = now()
     WHERE execution_id = $1 AND organisation_id = $2 AND $3::text = ANY (node_ids)
       AND (writer IS NULL OR writer = $4 OR written_at < now() - $6::integer * interval '1 second')
     RETURNING true AS shown`,
    [
      caller.executionId,
      caller.organisationId,
      caller.nodeId,
      caller.idempotencyKey,
      text.replaceAll('\0', '\uFFFD').toWellFormed(),
      SILENT_S,
    ],
    'put_chat_text',
  );
  return rows.length > 0;
}

/** Deletes what was written for executions that nobody has followed to their end, at most `limit`. Returns how many. */
export async function pruneLiveTexts(tx: Queryable, limit: number): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM chat_streams WHERE execution_id IN (
       SELECT execution_id FROM chat_streams WHERE written_at < now() - interval '1 day'
       ORDER BY written_at LIMIT $1 FOR UPDATE SKIP LOCKED)
     RETURNING execution_id`,
    [limit],
  );
  return rows.length;
}
