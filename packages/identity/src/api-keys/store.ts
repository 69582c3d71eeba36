import type { Scope } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';
import { rowSet } from '@millrace/database/row-set';
import type { Issuer } from '../values/roles.ts';

/** `expired` includes a rotated key whose 24 hours have passed; `locked` stays until it is unlocked by hand. */
export type KeyState = 'valid' | 'expired' | 'revoked' | 'locked';

/** Consecutive failures that lock a key. */
const FAILURES_UNTIL_LOCK = 10;

/** `api_keys.id`, or the 12 characters after `mr_`. */
export type KeyReference = { readonly id: number } | { readonly keyId: string };

/** A key without its secret, as lists and receipts show it. */
export interface KeyRow {
  readonly id: number;
  readonly key_id: string;
  readonly organisation_id: number;
  readonly family_id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly last_four: string;
  readonly state: KeyState;
  /** E-mail of whoever issued or last rotated it, or of the person it was issued for; null for the operator. */
  readonly issued_by_email: string | null;
  readonly issuer: Issuer;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly rotated_at: Date | null;
  readonly revoked_at: Date | null;
  readonly locked_at: Date | null;
  /** When it stops working by itself: its expiry, or 24 hours after its rotation if that is sooner. */
  readonly valid_until: Date | null;
  readonly consecutive_failures: number;
  readonly last_used_at: Date | null;
}

/** What authentication needs to know about a key. Compare `secret_hash` before revealing anything else. */
export interface KeyForAuthentication {
  readonly id: number;
  readonly key_id: string;
  readonly organisation_id: number;
  readonly family_id: string;
  readonly scopes: readonly Scope[];
  readonly secret_hash: Buffer;
  readonly state: KeyState;
  readonly issuer: Issuer;
  /** The organisation's limit for all its keys together; null if it has none of its own. */
  readonly requests_per_minute: number | null;
  /** Of the organisation, as a JSON array of `FormerIds`; null for none. */
  readonly former_ids: string | null;
  /** Whether {@link recordSuccesses} would change anything: false on nearly every request. */
  readonly success_due: boolean;
  /** Milliseconds until then, also if nothing fails; negative if it is due. Null for a key that was never used. */
  readonly success_due_in_ms: number | null;
  /** Whether it has a successor; then the addresses it is used from are recorded. */
  readonly is_rotated: boolean;
  readonly expires_at: Date | null;
  /** Which transactions this look-up has seen, as a `pg_snapshot`. */
  readonly snapshot: string;
}

/**
 * The keys with these key ids, in no particular order; unknown ids are absent. One statement for a whole batch of requests.
 * State, role and expiry are current by the database's clock, so that an administrator's changes apply at once.
 */
export async function findKeysForAuthentication(
  db: Queryable,
  keyIds: readonly string[],
): Promise<KeyForAuthentication[]> {
  return db.query<KeyForAuthentication>(
    `SELECT k.id, k.key_id, k.organisation_id, k.family_id, k.scopes, k.secret_hash,
       api_key_state(k) AS state, h.issuer,
       k.consecutive_failures > 0 OR coalesce(k.last_used_at <= now() - interval '1 minute', true) AS success_due,
       (extract(epoch FROM k.last_used_at + interval '1 minute' - now()) * 1000)::double precision AS success_due_in_ms,
       k.rotated_at IS NOT NULL AS is_rotated, k.expires_at, pg_current_snapshot()::text AS snapshot, o.requests_per_minute,
       (SELECT json_agg(f) FROM (SELECT kind, first_id, last_id, shift FROM former_ids WHERE organisation_id = k.organisation_id) f)
         AS former_ids
     FROM api_keys k CROSS JOIN LATERAL api_key_holder(k) h
     LEFT JOIN organisation_settings o ON o.organisation_id = k.organisation_id
     WHERE k.key_id = ANY ($1::text[])`,
    [keyIds],
    'find_keys_for_authentication',
  );
}

/** One refused authentication of a known key: wrong secret or wrong checksum. */
export interface AuthenticationFailure {
  /** `api_keys.id`. */
  readonly id: number;
  readonly sourceIp: string | null;
  readonly requestId: string | null;
}

const FAILURES = rowSet<AuthenticationFailure>(
  {
    id: ['bigint', (failure) => failure.id],
    source_ip: ['text', (failure) => failure.sourceIp],
    request_id: ['text', (failure) => failure.requestId],
  },
  2,
);

/**
 * Counts failures (each one, even several for one key) and locks a key on its tenth in a row; the statement that reaches ten
 * writes the lock and its one audit entry. Returns the ids of the keys it locked.
 */
export async function recordAuthenticationFailures(
  db: Queryable,
  failures: readonly AuthenticationFailure[],
): Promise<number[]> {
  const rows = await db.query<{ api_key_id: number }>(
    `WITH failed AS (
       SELECT id, count(*)::integer AS failures, array_agg(source_ip ORDER BY n) AS source_ips,
         array_agg(request_id ORDER BY n) AS request_ids
       FROM ${FAILURES.sql} WITH ORDINALITY AS f (${FAILURES.list()}, n) GROUP BY id
     ), locked AS (
       -- Always in the same order, or two batches over the same keys could wait for each other for ever.
       SELECT id FROM api_keys WHERE id IN (SELECT id FROM failed) ORDER BY id FOR NO KEY UPDATE
     ), counted AS (
       UPDATE api_keys k SET
         consecutive_failures = k.consecutive_failures + f.failures,
         locked_at = CASE WHEN k.consecutive_failures + f.failures >= $1::integer THEN coalesce(k.locked_at, now()) END
       FROM failed f JOIN locked l ON l.id = f.id
       WHERE k.id = f.id
       -- The failure that locked it: its address and its request, and not those of another one of the batch.
       RETURNING k.id, k.organisation_id, $1::integer - (k.consecutive_failures - f.failures) AS tenth,
         f.source_ips, f.request_ids,
         k.consecutive_failures >= $1::integer AND k.consecutive_failures - f.failures < $1::integer AS locked_now
     )
     INSERT INTO audit_log (organisation_id, action, actor, api_key_id, source_ip, request_id, details)
     SELECT organisation_id, 'api_key.locked', 'service', id, source_ips[tenth], request_ids[tenth], json_build_object('consecutive_failures', $1::integer)
     FROM counted WHERE locked_now
     RETURNING api_key_id`,
    [FAILURES_UNTIL_LOCK, ...FAILURES.values(failures)],
    'record_authentication_failures',
  );
  return rows.map((row) => row.api_key_id);
}

/** One accepted authentication. */
export interface AuthenticationSuccess {
  /** `api_keys.id`. */
  readonly id: number;
  readonly sourceIp: string | null;
}

/**
 * Ends a run of failures and records when and from where the key was last used: at most one write per key and minute. Call
 * it for keys whose `success_due` is true. A lock set in between stays.
 */
export async function recordSuccesses(
  db: Queryable,
  successes: readonly AuthenticationSuccess[],
): Promise<void> {
  await db.query(
    `WITH used AS (
       SELECT DISTINCT ON (id) id, source_ip
       FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS u (id, source_ip, n) ORDER BY id, n DESC
     ), locked AS (
       SELECT id FROM api_keys
       WHERE id IN (SELECT id FROM used) AND locked_at IS NULL
         AND (consecutive_failures > 0 OR coalesce(last_used_at <= now() - interval '1 minute', true))
       ORDER BY id FOR NO KEY UPDATE
     )
     UPDATE api_keys k SET consecutive_failures = 0, last_used_at = now(), last_used_ip = u.source_ip
     FROM used u JOIN locked l ON l.id = u.id
     WHERE k.id = u.id`,
    [successes.map((s) => s.id), successes.map((s) => s.sourceIp)],
    'record_successes',
  );
}

/** Whose key it is: at any time it has the rights of this account, or of this member if there is no account. */
export interface KeyHolder {
  /** `users.id`; null for a member who has no account. */
  readonly userId: number | null;
  /** `members.id`; null for a system administrator who is not a member of the organisation. */
  readonly memberId: number | null;
}

export interface NewKey {
  readonly keyId: string;
  readonly organisationId: number;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly secretHash: Buffer;
  readonly lastFour: string;
  /** Null for the operator. */
  readonly holder: KeyHolder | null;
  readonly expiresAt: Date | null;
}

/** Stores the first key of a new family. Returns its id. */
export async function insertKey(db: Queryable, key: NewKey): Promise<number> {
  const row = await queryRow<{ id: number }>(
    db,
    `INSERT INTO api_keys (organisation_id, key_id, family_id, name, scopes, secret_hash, last_four, issued_by, issued_by_user, expires_at)
     VALUES ($1, $2, gen_random_uuid(), $3, $4, $5, $6, $7, $8, $9)
     RETURNING id`,
    [
      key.organisationId,
      key.keyId,
      key.name,
      key.scopes,
      key.secretHash,
      key.lastFour,
      key.holder?.memberId ?? null,
      key.holder?.userId ?? null,
      key.expiresAt,
    ],
  );
  return row.id;
}

/**
 * Stores a key's successor: same organisation, name, scopes and family; it lives as long from now as its predecessor did
 * from its issue, or forever. Returns its id.
 */
export async function insertSuccessor(
  db: Queryable,
  predecessorId: number,
  key: Pick<NewKey, 'keyId' | 'secretHash' | 'lastFour' | 'holder'>,
): Promise<number> {
  const row = await queryRow<{ id: number }>(
    db,
    `INSERT INTO api_keys (organisation_id, key_id, family_id, name, scopes, secret_hash, last_four, issued_by, issued_by_user, expires_at)
     SELECT organisation_id, $2, family_id, name, scopes, $3, $4, $5, $6, now() + (expires_at - created_at)
     FROM api_keys WHERE id = $1
     RETURNING id`,
    [
      predecessorId,
      key.keyId,
      key.secretHash,
      key.lastFour,
      key.holder?.memberId ?? null,
      key.holder?.userId ?? null,
    ],
  );
  return row.id;
}

/** Starts a key's last 24 hours. */
export async function markRotated(db: Queryable, id: number): Promise<void> {
  await db.query('UPDATE api_keys SET rotated_at = now() WHERE id = $1', [id]);
}

/** The key that replaced a rotated key. */
export async function findSuccessor(
  db: Queryable,
  id: number,
): Promise<{ readonly id: number; readonly key_id: string; readonly last_four: string } | undefined> {
  const [row] = await db.query<{ id: number; key_id: string; last_four: string }>(
    `SELECT n.id, n.key_id, n.last_four FROM api_keys k
     JOIN api_keys n ON n.organisation_id = k.organisation_id AND n.family_id = k.family_id AND n.id > k.id
     WHERE k.id = $1 ORDER BY n.id LIMIT 1`,
    [id],
  );
  return row;
}

/** Keys of an account that may still work. */
export async function listKeysOfAccount(
  db: Queryable,
  userId: number,
): Promise<readonly { readonly id: number }[]> {
  return db.query('SELECT id FROM api_keys WHERE issued_by_user = $1 AND revoked_at IS NULL ORDER BY id', [
    userId,
  ]);
}

/** Revokes a key permanently. Returns false if it was already revoked. */
export async function markRevoked(db: Queryable, id: number): Promise<boolean> {
  const rows = await db.query(
    'UPDATE api_keys SET revoked_at = now() WHERE id = $1 AND revoked_at IS NULL RETURNING id',
    [id],
  );
  return rows.length === 1;
}

/** Unlocks a key and resets its count to 0. Returns false if it wasn't locked. */
export async function markUnlocked(db: Queryable, id: number): Promise<boolean> {
  const rows = await db.query(
    `UPDATE api_keys SET locked_at = NULL, consecutive_failures = 0
     WHERE id = $1 AND locked_at IS NOT NULL RETURNING id`,
    [id],
  );
  return rows.length === 1;
}

/** Locks a key's row until the transaction ends. Returns its id, or undefined if it doesn't exist. */
export async function lockKey(db: Queryable, reference: KeyReference): Promise<number | undefined> {
  const rows = await db.query<{ id: number }>(
    'SELECT id FROM api_keys WHERE id = $1 OR key_id = $2 FOR NO KEY UPDATE',
    'id' in reference ? [reference.id, null] : [null, reference.keyId],
  );
  return rows[0]?.id;
}

/** One key, or undefined. */
export async function findKey(db: Queryable, reference: KeyReference): Promise<KeyRow | undefined> {
  const [row] = await selectKeys(db, reference);
  return row;
}

/** An organisation's keys, newest first, including ended ones. */
export async function listKeys(db: Queryable, organisationId: number): Promise<KeyRow[]> {
  return selectKeys(db, { organisationId });
}

async function selectKeys(
  db: Queryable,
  of: { readonly id?: number; readonly keyId?: string; readonly organisationId?: number },
): Promise<KeyRow[]> {
  return db.query<KeyRow>(
    `SELECT k.id, k.key_id, k.organisation_id, k.family_id, k.name, k.scopes, k.last_four,
       api_key_state(k) AS state, h.issuer, h.email AS issued_by_email, k.created_at, k.expires_at, k.rotated_at, k.revoked_at, k.locked_at,
       api_key_valid_until(k) AS valid_until,
       k.consecutive_failures, k.last_used_at
     FROM api_keys k CROSS JOIN LATERAL api_key_holder(k) h
     WHERE k.id = $1 OR k.key_id = $2 OR k.organisation_id = $3
     ORDER BY k.id DESC`,
    [of.id ?? null, of.keyId ?? null, of.organisationId ?? null],
  );
}
