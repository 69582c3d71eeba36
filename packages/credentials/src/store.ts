import type { Queryable } from '@millrace/database/database';
import { isUniqueViolation } from '@millrace/database/errors';
import { queryRow } from '@millrace/database/query-row';
import { rowSet } from '@millrace/database/row-set';
import type { CredentialType, Flow, JsonText } from '@millrace/engine';

/** A credential without its secret, as lists and receipts show it. */
export interface CredentialRow {
  readonly id: number;
  readonly organisation_id: number;
  readonly name: string;
  readonly type: CredentialType;
  readonly hosts: readonly string[];
  /** JSON text of the non-secret fields. */
  readonly settings: string;
  /** False if its secret was discarded and has to be entered again. */
  readonly has_secret: boolean;
  /** Names of the secret fields that have a value; null if it was stored before this was recorded. */
  readonly stored_secrets: readonly string[] | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  /** Precise to the minute. */
  readonly last_used_at: Date | null;
  /** E-mail of the member who created it; null for the operator. */
  readonly created_by_email: string | null;
  /** State of its tokens; null if there are none. */
  readonly grant_state: 'pending' | 'active' | 'ended' | null;
  readonly connected_at: Date | null;
}

/** Everything needed to decrypt a credential. */
export interface SealedRow {
  readonly id: number;
  readonly organisation_id: number;
  readonly name: string;
  readonly type: CredentialType;
  readonly hosts: readonly string[];
  readonly settings: string;
  readonly key_id: string | null;
  readonly ciphertext: Buffer | null;
}

export interface CredentialWrite {
  readonly name: string;
  readonly hosts: readonly string[];
  readonly settings: string;
  /** Null keeps the stored one. */
  readonly sealed: {
    readonly keyId: string;
    readonly ciphertext: Buffer;
    /** Names of its fields that have a value. */
    readonly names: readonly string[];
  } | null;
}

/** The id of the next credential: its secret is bound to it before the row is written. */
export async function nextCredentialId(db: Queryable): Promise<number> {
  const row = await queryRow<{ id: number }>(
    db,
    `SELECT nextval(pg_get_serial_sequence('credentials', 'id')) AS id`,
  );
  return row.id;
}

/** Stores a new credential. Returns false if its name is taken. */
export async function insertCredential(
  db: Queryable,
  credential: CredentialWrite & {
    readonly id: number;
    readonly organisationId: number;
    readonly type: CredentialType;
    readonly createdBy: number | null;
  },
): Promise<boolean> {
  const { sealed } = credential;
  const rows = await db.query(
    `INSERT INTO credentials (id, organisation_id, name, type, hosts, settings, key_id, ciphertext, created_by,
       stored_secrets)
     OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     ON CONFLICT (organisation_id, name) DO NOTHING RETURNING id`,
    [
      credential.id,
      credential.organisationId,
      credential.name,
      credential.type,
      credential.hosts,
      credential.settings,
      sealed?.keyId ?? null,
      sealed?.ciphertext ?? null,
      credential.createdBy,
      sealed?.names ?? null,
    ],
  );
  return rows.length === 1;
}

/** Whether another credential of the organisation has this name. */
export async function isNameTaken(
  db: Queryable,
  organisationId: number,
  name: string,
  exceptId: number,
): Promise<boolean> {
  const rows = await db.query(
    'SELECT FROM credentials WHERE organisation_id = $1 AND name = $2 AND id <> $3',
    [organisationId, name, exceptId],
  );
  return rows.length > 0;
}

/**
 * Overwrites the changeable parts of a credential. Returns false if another one has just taken the name; the transaction
 * must then be rolled back.
 */
export async function updateCredential(
  tx: Queryable,
  id: number,
  { name, hosts, settings, sealed }: CredentialWrite,
): Promise<boolean> {
  try {
    await tx.query(
      `UPDATE credentials SET name = $2, hosts = $3, settings = $4, updated_at = now(),
         key_id = coalesce($5, key_id), ciphertext = coalesce($6, ciphertext),
         stored_secrets = coalesce($7, stored_secrets)
       WHERE id = $1`,
      [id, name, hosts, settings, sealed?.keyId ?? null, sealed?.ciphertext ?? null, sealed?.names ?? null],
    );
    return true;
  } catch (error) {
    if (isUniqueViolation(error)) return false;
    throw error;
  }
}

export async function removeCredential(db: Queryable, id: number): Promise<void> {
  await db.query('DELETE FROM credentials WHERE id = $1', [id]);
}

/** Locks a credential until the transaction ends. Undefined if the organisation has none with this id. */
export async function lockCredential(
  db: Queryable,
  organisationId: number,
  id: number,
): Promise<SealedRow | undefined> {
  const [row] = await db.query<SealedRow>(
    `SELECT id, organisation_id, name, type, hosts, settings, key_id, ciphertext
     FROM credentials WHERE organisation_id = $1 AND id = $2 FOR UPDATE`,
    [organisationId, id],
  );
  return row;
}

/** What a node opens. `use_due`: {@link noteUse} would change something; nearly always false. */
export async function findSealed(
  db: Queryable,
  organisationId: number,
  id: number,
): Promise<(SealedRow & { readonly use_due: boolean }) | undefined> {
  const [row] = await db.query<SealedRow & { use_due: boolean }>(
    `SELECT id, organisation_id, name, type, hosts, settings, key_id, ciphertext,
       coalesce(last_used_at <= now() - interval '1 minute', true) AS use_due
     FROM credentials WHERE organisation_id = $1 AND id = present_id($1, 'credentials', $2)`,
    [organisationId, id],
    'find_sealed_credential',
  );
  return row;
}

/** Records when a credential was last used: at most one write a minute, and none that would wait for another. */
export async function noteUse(db: Queryable, id: number): Promise<void> {
  await db.query(
    `UPDATE credentials SET last_used_at = now() WHERE id = (
       SELECT id FROM credentials WHERE id = $1 AND coalesce(last_used_at <= now() - interval '1 minute', true)
       FOR NO KEY UPDATE SKIP LOCKED)`,
    [id],
  );
}

/** One credential, or undefined. */
export async function findCredential(
  db: Queryable,
  organisationId: number,
  id: number,
): Promise<CredentialRow | undefined> {
  const [row] = await selectCredentials(db, organisationId, id);
  return row;
}

/** An organisation's credentials by name. */
export async function listCredentials(db: Queryable, organisationId: number): Promise<CredentialRow[]> {
  return selectCredentials(db, organisationId, null);
}

async function selectCredentials(
  db: Queryable,
  organisationId: number,
  id: number | null,
): Promise<CredentialRow[]> {
  return db.query<CredentialRow>(
    `SELECT c.id, c.organisation_id, c.name, c.type, c.hosts, c.settings, c.ciphertext IS NOT NULL AS has_secret,
       c.stored_secrets, c.created_at, c.updated_at, c.last_used_at, m.email AS created_by_email,
       g.state AS grant_state, g.connected_at
     FROM credentials c LEFT JOIN members m ON m.id = c.created_by
       LEFT JOIN credential_grants g ON g.credential_id = c.id
     WHERE c.organisation_id = $1 AND ($2::bigint IS NULL OR c.id = $2)
     ORDER BY c.name, c.id`,
    [organisationId, id],
  );
}

/** The organisation and type of a credential: ids are unique across organisations. */
export async function findOwnerOfCredential(
  db: Queryable,
  id: number,
): Promise<{ readonly organisation_id: number; readonly type: CredentialType } | undefined> {
  const [row] = await db.query<{ organisation_id: number; type: CredentialType }>(
    'SELECT organisation_id, type FROM credentials WHERE id = $1',
    [id],
  );
  return row;
}

/** Those of the ids that are credentials of the organisation. */
export async function listExistingIds(
  db: Queryable,
  organisationId: number,
  ids: readonly number[],
): Promise<number[]> {
  const rows = await db.query<{ id: number }>(
    'SELECT id FROM credentials WHERE organisation_id = $1 AND id = ANY ($2::bigint[])',
    [organisationId, ids],
  );
  return rows.map((row) => row.id);
}

/** Saved flows that could name a credential, including archived workflows, which can be restored. */
export async function listFlowsWithCredentials(
  db: Queryable,
  organisationId: number,
): Promise<{ readonly id: number; readonly name: string; readonly flow_data: JsonText<Flow> }[]> {
  return db.query(
    `SELECT w.id, w.name, v.flow_data FROM workflows w
     JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = w.version
     WHERE w.organisation_id = $1 AND v.flow_data::text LIKE '%credential%' ORDER BY w.id`,
    [organisationId],
  );
}

/** Credentials encrypted with a key other than the current one, by id, locked until the transaction ends. */
export async function lockCredentialsOfOtherKeys(
  db: Queryable,
  afterId: number,
  limit: number,
): Promise<SealedRow[]> {
  return db.query<SealedRow>(
    `SELECT id, organisation_id, name, type, hosts, settings, key_id, ciphertext FROM credentials
     WHERE id > $1 AND key_id <> (SELECT id FROM secret_keys WHERE state = 'current')
     ORDER BY id LIMIT $2 FOR UPDATE`,
    [afterId, limit],
  );
}

interface NewCiphertext {
  readonly id: number;
  readonly keyId: string;
  readonly ciphertext: Buffer;
}

const CIPHERTEXTS = rowSet<NewCiphertext>({
  id: ['bigint', (row) => row.id],
  key_id: ['text', (row) => row.keyId],
  ciphertext: ['bytea', (row) => row.ciphertext],
});

/** Replaces the ciphertexts of locked rows; their plaintexts are unchanged. */
export async function replaceCiphertexts(db: Queryable, rows: readonly NewCiphertext[]): Promise<void> {
  await db.query(
    `UPDATE credentials c SET key_id = n.key_id, ciphertext = n.ciphertext
     FROM ${CIPHERTEXTS.sql} AS n (${CIPHERTEXTS.list()}) WHERE c.id = n.id`,
    CIPHERTEXTS.values(rows),
  );
}

export async function countCredentialsOfOtherKeys(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    `SELECT count(*) AS count FROM credentials
     WHERE key_id <> (SELECT id FROM secret_keys WHERE state = 'current')`,
  );
  return row?.count ?? 0;
}

export async function listOrganisationsWithCredentials(db: Queryable): Promise<number[]> {
  const rows = await db.query<{ organisation_id: number }>(
    'SELECT DISTINCT organisation_id FROM credentials ORDER BY organisation_id',
  );
  return rows.map((row) => row.organisation_id);
}

/** Discards the secrets encrypted with these keys. Returns the affected credentials. */
export async function dropSecretsOfKeys(
  db: Queryable,
  keyIds: readonly string[],
): Promise<{ readonly id: number; readonly organisation_id: number; readonly name: string }[]> {
  return db.query(
    `UPDATE credentials SET key_id = NULL, ciphertext = NULL, stored_secrets = '{}', updated_at = now()
     WHERE key_id = ANY ($1::text[]) RETURNING id, organisation_id, name`,
    [keyIds],
  );
}

/** Alert rules that send with the credential, the oldest first. */
export async function listAlertRulesWith(
  db: Queryable,
  organisationId: number,
  credentialId: number,
): Promise<{ readonly id: number; readonly name: string }[]> {
  return db.query(
    `SELECT id, name FROM alert_rules
     WHERE organisation_id = $1 AND target->>'credential_id' = $2::bigint::text ORDER BY id`,
    [organisationId, credentialId],
  );
}
