import type { Queryable } from '@millrace/database/database';
import type { MemoryTurn } from '@millrace/engine';

export interface MemoryRow {
  readonly turns: readonly StoredTurn[];
  readonly summary: string | null;
}

/** A turn with the attempt that remembered it, so that it is remembered once. */
export interface StoredTurn extends MemoryTurn {
  readonly by: string;
}

/** A conversation that is remembered. */
export interface MemoryKey {
  readonly organisationId: number;
  readonly workflowId: number;
  readonly key: string;
}

/** What is remembered under a key; undefined if nothing is, or if it has expired. */
export async function findMemory(tx: Queryable, of: MemoryKey): Promise<MemoryRow | undefined> {
  const rows = await tx.query<Read>(
    `SELECT turns::text AS turns, summary FROM ai_memories
     WHERE organisation_id = $1 AND workflow_id = $2 AND key = $3 AND expires_at > now()`,
    [of.organisationId, of.workflowId, of.key],
    'find_ai_memory',
  );
  return toMemory(rows[0]);
}

/** The same, locked until the end of the transaction. */
export async function lockMemory(tx: Queryable, of: MemoryKey): Promise<MemoryRow | undefined> {
  const rows = await tx.query<Read>(
    `SELECT turns::text AS turns, summary FROM ai_memories
     WHERE organisation_id = $1 AND workflow_id = $2 AND key = $3 FOR UPDATE`,
    [of.organisationId, of.workflowId, of.key],
    'lock_ai_memory',
  );
  return toMemory(rows[0]);
}

interface Read {
  readonly turns: string;
  readonly summary: string | null;
}

function toMemory(row: Read | undefined): MemoryRow | undefined {
  return row === undefined
    ? undefined
    : { turns: JSON.parse(row.turns) as StoredTurn[], summary: row.summary };
}

/** Makes sure that there is a row to lock: of two first turns at once, the second waits for the first. */
export async function openMemory(tx: Queryable, of: MemoryKey): Promise<void> {
  await tx.query(
    `INSERT INTO ai_memories (organisation_id, workflow_id, key, turns, bytes, expires_at)
     VALUES ($1, $2, $3, '[]', 0, now() + interval '1 hour')
     ON CONFLICT (workflow_id, key) DO UPDATE SET turns = '[]', summary = NULL, bytes = 0,
       created_at = now(), expires_at = now() + interval '1 hour'
       WHERE ai_memories.expires_at <= now()`,
    [of.organisationId, of.workflowId, of.key],
    'open_ai_memory',
  );
}

export async function putMemory(
  tx: Queryable,
  of: MemoryKey,
  memory: { readonly turns: string; readonly summary: string | null; readonly ttlS: number },
): Promise<void> {
  await tx.query(
    `UPDATE ai_memories SET turns = $4::text::json, summary = $5::text, bytes = octet_length($4::text) + coalesce(octet_length($5::text), 0),
       updated_at = now(), expires_at = now() + $6::bigint * interval '1 second'
     WHERE organisation_id = $1 AND workflow_id = $2 AND key = $3`,
    [of.organisationId, of.workflowId, of.key, memory.turns, memory.summary, memory.ttlS],
    'put_ai_memory',
  );
}

/** Forgets what an organisation hasn't used for longest while it is above one of the limits. Never what `except` names. */
export async function keepMemoryLimits(
  tx: Queryable,
  except: MemoryKey,
  limits: { readonly memories: number; readonly bytes: number },
): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM ai_memories WHERE organisation_id = $1 AND (workflow_id, key) IN (
       SELECT workflow_id, key FROM (
         SELECT workflow_id, key, row_number() OVER newest AS place, sum(bytes) OVER newest AS total
         FROM ai_memories WHERE organisation_id = $1
         WINDOW newest AS (ORDER BY updated_at DESC, workflow_id, key)) m
       WHERE (place > $4 OR total > $5) AND NOT (workflow_id = $2 AND key = $3))
     RETURNING key`,
    [except.organisationId, except.workflowId, except.key, limits.memories, limits.bytes],
    'keep_ai_memory_limits',
  );
  return rows.length;
}

/** A memory as lists show it. */
export interface ListedMemory {
  readonly key: string;
  readonly turns: number;
  readonly has_summary: boolean;
  readonly bytes: number;
  readonly updated_at: Date;
  readonly expires_at: Date;
}

/** The memories of a workflow that were used last. */
export async function listMemories(
  tx: Queryable,
  organisationId: number,
  { workflowId, limit }: { readonly workflowId: number; readonly limit: number },
): Promise<ListedMemory[]> {
  return tx.query<ListedMemory>(
    `SELECT key, json_array_length(turns) AS turns, summary IS NOT NULL AS has_summary, bytes, updated_at, expires_at
     FROM ai_memories WHERE organisation_id = $1 AND workflow_id = $2 AND expires_at > now()
     ORDER BY updated_at DESC, key LIMIT $3`,
    [organisationId, workflowId, limit],
    'list_ai_memories',
  );
}

/** Forgets one memory of a workflow, or all with `key` null. Returns how many. */
export async function deleteMemories(
  tx: Queryable,
  organisationId: number,
  workflowId: number,
  key: string | null,
): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM ai_memories WHERE organisation_id = $1 AND workflow_id = $2 AND ($3::text IS NULL OR key = $3)
     RETURNING key`,
    [organisationId, workflowId, key],
    'delete_ai_memories',
  );
  return rows.length;
}

/** Deletes expired memories, at most `limit`. Returns how many. */
export async function pruneMemories(tx: Queryable, limit: number): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM ai_memories WHERE (workflow_id, key) IN (
       SELECT workflow_id, key FROM ai_memories WHERE expires_at <= now()
       ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)
     RETURNING key`,
    [limit],
  );
  return rows.length;
}
