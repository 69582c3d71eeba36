import type { Queryable } from '@millrace/database/database';
import { rowSet } from '@millrace/database/row-set';
import type { ChainedEntry } from './chain.ts';

/** The columns of {@link ChainedEntry}, of `audit_log a`. */
const ENTRY_COLUMNS = `a.id, a.organisation_id,
  to_char(a.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS occurred_at, a.action, a.actor, a.user_id,
  a.member_id, a.api_key_id, a.source_ip, a.request_id, a.repeat_key, a.repeats,
  to_char(a.last_occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS last_occurred_at, a.details`;

/** Asked without a transaction, because mostly there is nothing to seal. */
export async function hasSealable(db: Queryable): Promise<boolean> {
  const [row] = await db.query<{ found: boolean }>(
    'SELECT EXISTS (SELECT FROM audit_pending WHERE sealable_at <= now()) AS found',
    [],
    'has_sealable',
  );
  return row?.found === true;
}

/** Entries that can't change any more and that no seal covers, in the order in which they are to be sealed. */
export async function listSealable(tx: Queryable, limit: number): Promise<ChainedEntry[]> {
  return tx.query<ChainedEntry>(
    `SELECT ${ENTRY_COLUMNS} FROM audit_pending p JOIN audit_log a ON a.id = p.entry_id
     WHERE p.sealable_at <= now() ORDER BY p.sealable_at, p.entry_id LIMIT $1`,
    [limit],
  );
}

/** Where a chain ends. */
export interface ChainEnd {
  readonly organisation_id: number;
  readonly length: number;
  readonly head: Buffer;
}

/** The ends of chains, which begin here if there were none, locked until the end of the transaction. */
export async function lockChains(tx: Queryable, organisationIds: readonly number[]): Promise<ChainEnd[]> {
  await tx.query(
    `INSERT INTO audit_chains (organisation_id) SELECT unnest($1::bigint[])
     ON CONFLICT (organisation_id) DO NOTHING`,
    [organisationIds],
  );
  return tx.query<ChainEnd>(
    `SELECT organisation_id, length, head FROM audit_chains WHERE organisation_id = ANY ($1::bigint[])
     ORDER BY organisation_id FOR UPDATE`,
    [organisationIds],
  );
}

/** An entry's place in the chain of its organisation. */
export interface Seal {
  readonly organisationId: number;
  readonly position: number;
  readonly entryId: number;
  readonly hash: Buffer;
}

const SEALS = rowSet<Seal>({
  organisation_id: ['bigint', (row) => row.organisationId],
  position: ['bigint', (row) => row.position],
  entry_id: ['bigint', (row) => row.entryId],
  hash: ['bytea', (row) => row.hash],
});

export async function insertSeals(tx: Queryable, seals: readonly Seal[]): Promise<void> {
  await tx.query(
    `INSERT INTO audit_seals (organisation_id, position, entry_id, hash)
     SELECT ${SEALS.list()} FROM ${SEALS.sql} AS s (${SEALS.list()})`,
    SEALS.values(seals),
  );
  await tx.query('DELETE FROM audit_pending WHERE entry_id = ANY ($1::bigint[])', [
    seals.map(({ entryId }) => entryId),
  ]);
}

const ENDS = rowSet<ChainEnd>({
  organisation_id: ['bigint', (row) => row.organisation_id],
  length: ['bigint', (row) => row.length],
  head: ['bytea', (row) => row.head],
});

export async function extendChains(tx: Queryable, ends: readonly ChainEnd[]): Promise<void> {
  await tx.query(
    `UPDATE audit_chains c SET length = e.length, head = e.head
     FROM ${ENDS.sql} AS e (${ENDS.list()}) WHERE c.organisation_id = e.organisation_id`,
    ENDS.values(ends),
  );
}

/** A chain with its beginning, and what the last verification found. */
export interface ChainRow extends ChainEnd {
  readonly dropped: number;
  readonly dropped_hash: Buffer;
  readonly verified_at: Date | null;
  readonly verified_entries: number;
  /** JSON text; null if nothing was wrong. */
  readonly problem: string | null;
}

/** Undefined as long as no entry of the organisation has been sealed. */
export async function findChain(db: Queryable, organisationId: number): Promise<ChainRow | undefined> {
  const [row] = await db.query<ChainRow>(
    `SELECT organisation_id, length, head, dropped, dropped_hash, verified_at, verified_entries, problem
     FROM audit_chains WHERE organisation_id = $1`,
    [organisationId],
  );
  return row;
}

/** A seal with its entry, whose columns are null if there is none. */
export type SealedRow = {
  readonly [Name in keyof ChainedEntry]: ChainedEntry[Name] | null;
} & {
  readonly position: number;
  readonly entry_id: number;
  readonly hash: Buffer;
};

/** Seals of so many positions above one, in the order of the chain. A range, because without statistics a limit would sort all that follow. */
export async function listSealsAbove(
  tx: Queryable,
  organisationId: number,
  position: number,
  positions: number,
): Promise<SealedRow[]> {
  return tx.query<SealedRow>(
    `SELECT s.position, s.entry_id, s.hash, ${ENTRY_COLUMNS}
     FROM audit_seals s LEFT JOIN audit_log a ON a.id = s.entry_id
     WHERE s.organisation_id = $1 AND s.position BETWEEN $2::bigint + 1 AND $2::bigint + $3::bigint ORDER BY s.position`,
    [organisationId, position, positions],
  );
}

/** The next sealed position above one; null at the end of the chain. */
export async function findSealAbove(
  tx: Queryable,
  organisationId: number,
  position: number,
): Promise<number | null> {
  const [row] = await tx.query<{ position: number | null }>(
    'SELECT min(position) AS position FROM audit_seals WHERE organisation_id = $1 AND position > $2',
    [organisationId, position],
  );
  return row?.position ?? null;
}

/** How many entries an organisation has that no seal covers, except those that wait for it, if so many of the others are sealed. */
export async function countAdded(tx: Queryable, organisationId: number, sealed: number): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `SELECT (SELECT count(*) FROM audit_log WHERE organisation_id = $1)
       - (SELECT count(*) FROM audit_pending p JOIN audit_log a ON a.id = p.entry_id WHERE a.organisation_id = $1
         AND NOT EXISTS (SELECT FROM audit_seals s WHERE s.entry_id = p.entry_id)) - $2::bigint AS count`,
    [organisationId, sealed],
  );
  return row?.count ?? 0;
}

/** Entries that are neither sealed nor waiting for it. Reads all of them. */
export async function listAdded(tx: Queryable, organisationId: number, limit: number): Promise<number[]> {
  const rows = await tx.query<{ id: number }>(
    `SELECT a.id FROM audit_log a WHERE a.organisation_id = $1
       AND NOT EXISTS (SELECT FROM audit_seals s WHERE s.entry_id = a.id AND s.organisation_id = $1)
       AND NOT EXISTS (SELECT FROM audit_pending p WHERE p.entry_id = a.id)
     ORDER BY a.id LIMIT $2`,
    [organisationId, limit],
  );
  return rows.map((row) => row.id);
}

/** Entries that waited for being sealed and are gone. */
export async function listVanished(tx: Queryable, organisationId: number, limit: number): Promise<number[]> {
  const rows = await tx.query<{ entry_id: number }>(
    `SELECT p.entry_id FROM audit_pending p WHERE p.organisation_id = $1
       AND NOT EXISTS (SELECT FROM audit_log a WHERE a.id = p.entry_id) ORDER BY p.entry_id LIMIT $2`,
    [organisationId, limit],
  );
  return rows.map((row) => row.entry_id);
}

/** Chains that weren't verified for so long. */
export async function listUnverified(db: Queryable, maxAgeMs: number, limit: number): Promise<number[]> {
  const rows = await db.query<{ organisation_id: number }>(
    `SELECT organisation_id FROM audit_chains
     WHERE length > 0 AND coalesce(verified_at < now() - $1::double precision * interval '1 millisecond', true)
     ORDER BY verified_at NULLS FIRST LIMIT $2`,
    [maxAgeMs, limit],
  );
  return rows.map((row) => row.organisation_id);
}

/** @param problem JSON text; null if nothing was wrong */
export async function recordVerification(
  db: Queryable,
  organisationId: number,
  entries: number,
  problem: string | null,
): Promise<void> {
  await db.query(
    `UPDATE audit_chains SET verified_at = now(), verified_entries = $2, problem = $3::json WHERE organisation_id = $1`,
    [organisationId, entries, problem],
  );
}
