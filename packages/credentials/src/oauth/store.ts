import type { Queryable } from '@millrace/database/database';

/** The tokens of a credential, and whether they can be used. */
export interface GrantRow {
  readonly state: 'pending' | 'active' | 'ended';
  readonly generation: number;
  readonly key_id: string | null;
  readonly ciphertext: Buffer | null;
  /** Whether the token hasn't expired. */
  readonly is_valid: boolean;
  /** Whether it is time for the next one. */
  readonly is_due: boolean;
  /** Whether it was fetched so recently that another one wouldn't be accepted either. */
  readonly is_new: boolean;
}

export interface SealedTokens {
  readonly keyId: string;
  readonly ciphertext: Buffer;
  readonly lifetimeS: number | null;
}

/** A credential's grant; undefined if it never had tokens. */
export async function findGrant(
  db: Queryable,
  organisationId: number,
  credentialId: number,
): Promise<GrantRow | undefined> {
  const [row] = await db.query<GrantRow>(
    `SELECT state, generation, key_id, ciphertext,
       coalesce(expires_at > clock_timestamp(), true) AS is_valid,
       coalesce(renew_at <= clock_timestamp(), false) AS is_due,
       coalesce(obtained_at > clock_timestamp() - interval '10 seconds', false) AS is_new
     FROM credential_grants WHERE organisation_id = $1 AND credential_id = $2`,
    [organisationId, credentialId],
    'find_credential_grant',
  );
  return row;
}

/**
 * Makes the caller the one that fetches the next tokens, unless somebody else is, or they have been fetched already.
 * @param generation of the tokens that can't be used; 0 if there were none
 */
export async function takeLease(
  db: Queryable,
  grant: {
    readonly organisationId: number;
    readonly credentialId: number;
    readonly generation: number;
    /** The credential's settings as the caller read them: for others, the tokens would be wrong. */
    readonly settings: string;
  },
  lease: string,
  leaseMs: number,
): Promise<boolean> {
  const rows = await db.query(
    `INSERT INTO credential_grants AS g (credential_id, organisation_id, lease, lease_until)
     SELECT c.id, c.organisation_id, $4, clock_timestamp() + $5 * interval '1 millisecond'
     FROM credentials c WHERE c.organisation_id = $1 AND c.id = $2 AND c.settings::text = $6 AND ($3 = 0 OR EXISTS (
       SELECT FROM credential_grants e WHERE e.credential_id = c.id))
     FOR KEY SHARE OF c
     ON CONFLICT (credential_id) DO UPDATE SET lease = excluded.lease, lease_until = excluded.lease_until
       WHERE g.generation = $3
         AND (g.lease_until IS NULL OR g.lease_until <= clock_timestamp())
     RETURNING credential_id`,
    [grant.organisationId, grant.credentialId, grant.generation, lease, leaseMs, grant.settings],
  );
  return rows.length === 1;
}

/** Stores what the holder of a lease has fetched. Returns false if the lease is somebody else's by now, or the grant was removed. */
export async function storeTokens(
  db: Queryable,
  credentialId: number,
  lease: string,
  { keyId, ciphertext, lifetimeS }: SealedTokens,
): Promise<boolean> {
  const rows = await db.query(
    `UPDATE credential_grants SET state = 'active', generation = generation + 1, key_id = $3, ciphertext = $4,
       obtained_at = clock_timestamp(),
       expires_at = clock_timestamp() + $5::float8 * interval '1 second',
       renew_at = clock_timestamp() + ($5::float8 - least(60, $5::float8 / 10)) * interval '1 second',
       lease = NULL, lease_until = NULL
     WHERE credential_id = $1 AND lease = $2 RETURNING credential_id`,
    [credentialId, lease, keyId, ciphertext, lifetimeS],
  );
  return rows.length === 1;
}

/** Stores the tokens that a person has just approved, in place of whatever was there. */
export async function connectGrant(
  db: Queryable,
  grant: { readonly organisationId: number; readonly credentialId: number },
  { keyId, ciphertext, lifetimeS }: SealedTokens,
): Promise<void> {
  await db.query(
    `INSERT INTO credential_grants AS g (credential_id, organisation_id, state, generation, key_id, ciphertext, obtained_at,
       expires_at, renew_at, connected_at)
     VALUES ($1, $2, 'active', 1, $3, $4, clock_timestamp(), clock_timestamp() + $5::float8 * interval '1 second',
       clock_timestamp() + ($5::float8 - least(60, $5::float8 / 10)) * interval '1 second', clock_timestamp())
     ON CONFLICT (credential_id) DO UPDATE SET state = 'active', generation = g.generation + 1, key_id = excluded.key_id,
       ciphertext = excluded.ciphertext, obtained_at = excluded.obtained_at, expires_at = excluded.expires_at,
       renew_at = excluded.renew_at, connected_at = excluded.connected_at, lease = NULL, lease_until = NULL`,
    [grant.credentialId, grant.organisationId, keyId, ciphertext, lifetimeS],
  );
}

/** Gives the lease back without new tokens. */
export async function releaseLease(db: Queryable, credentialId: number, lease: string): Promise<void> {
  await db.query(
    'UPDATE credential_grants SET lease = NULL, lease_until = NULL WHERE credential_id = $1 AND lease = $2',
    [credentialId, lease],
  );
}

/** Deletes the tokens that the provider no longer accepts. Returns false if the lease is somebody else's by now. */
export async function endGrant(db: Queryable, credentialId: number, lease: string): Promise<boolean> {
  const rows = await db.query(
    `UPDATE credential_grants SET state = 'ended', key_id = NULL, ciphertext = NULL, expires_at = NULL, renew_at = NULL,
       lease = NULL, lease_until = NULL
     WHERE credential_id = $1 AND lease = $2 RETURNING credential_id`,
    [credentialId, lease],
  );
  return rows.length === 1;
}

/** Forgets a credential's tokens: they were given out for other settings. */
export async function removeGrant(db: Queryable, credentialId: number): Promise<void> {
  await db.query('DELETE FROM credential_grants WHERE credential_id = $1', [credentialId]);
}

/** Tokens to be re-encrypted. */
export interface LockedGrant {
  /** Of the credential. */
  readonly id: number;
  readonly organisation_id: number;
  readonly ciphertext: Buffer;
}

/** Tokens encrypted with a key other than the current one, by credential, locked until the transaction ends. */
export async function lockGrantsOfOtherKeys(
  db: Queryable,
  afterId: number,
  limit: number,
): Promise<LockedGrant[]> {
  return db.query<LockedGrant>(
    `SELECT credential_id AS id, organisation_id, ciphertext FROM credential_grants
     WHERE credential_id > $1 AND key_id <> (SELECT id FROM secret_keys WHERE state = 'current')
     ORDER BY credential_id LIMIT $2 FOR UPDATE`,
    [afterId, limit],
  );
}

/** Replaces a locked row's ciphertext; its plaintext is unchanged. */
export async function replaceGrant(
  db: Queryable,
  credentialId: number,
  { keyId, ciphertext }: Pick<SealedTokens, 'keyId' | 'ciphertext'>,
): Promise<void> {
  await db.query('UPDATE credential_grants SET key_id = $2, ciphertext = $3 WHERE credential_id = $1', [
    credentialId,
    keyId,
    ciphertext,
  ]);
}

export async function countGrantsOfOtherKeys(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    `SELECT count(*) AS count FROM credential_grants
     WHERE key_id <> (SELECT id FROM secret_keys WHERE state = 'current')`,
  );
  return row?.count ?? 0;
}

/** Ends the grants whose tokens are encrypted with these keys: a person has to connect them again. */
export async function endGrantsOfKeys(db: Queryable, keyIds: readonly string[]): Promise<void> {
  await db.query(
    `UPDATE credential_grants SET state = 'ended', key_id = NULL, ciphertext = NULL, expires_at = NULL, renew_at = NULL,
       lease = NULL, lease_until = NULL
     WHERE key_id = ANY ($1::text[])`,
    [keyIds],
  );
}

/** Remembers that someone is about to connect a credential; what the organisation's people have abandoned is forgotten. */
export async function insertConnection(
  tx: Queryable,
  connecting: { readonly organisationId: number; readonly credentialId: number; readonly sessionId: number },
  stateHash: Buffer,
  minutes: number,
): Promise<void> {
  const { organisationId, credentialId, sessionId } = connecting;
  await tx.query('DELETE FROM credential_connections WHERE organisation_id = $1 AND expires_at <= now()', [
    organisationId,
  ]);
  await tx.query(
    `INSERT INTO credential_connections (state_hash, organisation_id, credential_id, session_id, expires_at)
     VALUES ($1, $2, $3, $4, now() + $5 * interval '1 minute')`,
    [stateHash, organisationId, credentialId, sessionId, minutes],
  );
}

/** Ends a connection that is under way, and returns what it is about. Undefined: there is none, or no longer. */
export async function takeConnection(
  db: Queryable,
  sessionId: number,
  stateHash: Buffer,
): Promise<
  { readonly organisationId: number; readonly credentialId: number; readonly sessionId: number } | undefined
> {
  const [row] = await db.query<{ organisation_id: number; credential_id: number }>(
    `DELETE FROM credential_connections WHERE state_hash = $1 AND session_id = $2 AND expires_at > now()
     RETURNING organisation_id, credential_id`,
    [stateHash, sessionId],
  );
  return row && { organisationId: row.organisation_id, credentialId: row.credential_id, sessionId };
}
