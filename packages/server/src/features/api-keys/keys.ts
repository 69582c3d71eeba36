import type { JsonObject } from '@millrace/engine';
import type { Database, Queryable } from '../../db/database.ts';
import { type AuditAction, type AuditActor, type AuditOrigin, insertAudit } from '../audit/store.ts';
import { isScope, SCOPES, type Scope } from '../members/roles.ts';
import { AccountError } from '../organisations/account-error.ts';
import { type GeneratedApiKey, generateApiKey } from './key.ts';
import {
  findKey,
  insertKey,
  insertSuccessor,
  type KeyRow,
  lockKey,
  markRevoked,
  markRotated,
  markUnlocked,
} from './store.ts';

/** `api_keys.id`, or the 12 characters after `mr_`. */
export type KeyReference = { readonly id: number } | { readonly keyId: string };

export interface KeyIssue {
  readonly organisationId: number;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt?: Date | null;
  /** Member whose role cuts the key's rights; none: the operator. */
  readonly issuedBy?: number | null;
}

/** A key just issued. `text` is shown to its owner once and is not stored. */
export interface IssuedKey {
  readonly text: string;
  readonly row: KeyRow;
}

/**
 * Issues a key and records it.
 * @throws AccountError `invalid_value` for the name, the scopes or an expiry that has passed
 */
export async function issueKey(
  db: Database,
  issue: KeyIssue,
  by: AuditActor,
  origin: AuditOrigin = {},
): Promise<IssuedKey> {
  const name = checkName(issue.name);
  const scopes = checkScopes(issue.scopes);
  const expiresAt = issue.expiresAt ?? null;
  const key = generateApiKey();
  return db.transaction(async (tx) => {
    const id = await insertKey(tx, {
      ...stored(key),
      organisationId: issue.organisationId,
      name,
      scopes,
      issuedBy: issue.issuedBy ?? null,
      expiresAt,
    });
    const row = await keyAfterWrite(tx, id);
    // The database's clock decides, so the row is written first and the transaction given up again.
    if (row.state === 'expired') {
      throw new AccountError('invalid_value', 'The expiry has already passed; give a time in the future.');
    }
    await audit(tx, row, 'api_key.issued', by, origin, {
      name,
      scopes,
      expires_at: expiresAt?.toISOString() ?? null,
    });
    return { text: key.text, row };
  });
}

/**
 * Issues a key's successor; the key itself goes on for 24 hours at most. A second rotation gives another successor
 * but does not extend the old key.
 * @throws AccountError `key_not_found`, `key_revoked`, `key_expired`
 */
export async function rotateKey(
  db: Database,
  reference: KeyReference,
  by: AuditActor,
  origin: AuditOrigin = {},
): Promise<IssuedKey & { readonly predecessor: KeyRow }> {
  const key = generateApiKey();
  return db.transaction(async (tx) => {
    const current = await heldKey(tx, reference);
    if (current.state === 'revoked' || current.state === 'expired') {
      throw new AccountError(
        `key_${current.state}`,
        `Key ${current.id} is ${current.state} and cannot be rotated; create a new key instead.`,
      );
    }
    const successorId = await insertSuccessor(tx, current.id, stored(key));
    await markRotated(tx, current.id);
    const row = await keyAfterWrite(tx, successorId);
    const predecessor = await keyAfterWrite(tx, current.id);
    await audit(tx, predecessor, 'api_key.rotated', by, origin, { successor_id: row.id });
    return { text: key.text, row, predecessor };
  });
}

/**
 * Ends a key at once and for good; doing it again changes nothing.
 * @throws AccountError `key_not_found`
 */
export async function revokeKey(
  db: Database,
  reference: KeyReference,
  by: AuditActor,
  origin: AuditOrigin = {},
): Promise<KeyRow> {
  return db.transaction((tx) => change(tx, reference, markRevoked, 'api_key.revoked', by, origin));
}

/**
 * Takes the lock away that failed authentications led to; nothing happens to a key that is not locked.
 * @throws AccountError `key_not_found`
 */
export async function unlockKey(
  db: Database,
  reference: KeyReference,
  by: AuditActor,
  origin: AuditOrigin = {},
): Promise<KeyRow> {
  return db.transaction((tx) => change(tx, reference, markUnlocked, 'api_key.unlocked', by, origin));
}

/** Changes a key that is held meanwhile, and records it when there was something to change. */
async function change(
  tx: Queryable,
  reference: KeyReference,
  mark: (tx: Queryable, id: number) => Promise<boolean>,
  action: 'api_key.revoked' | 'api_key.unlocked',
  by: AuditActor,
  origin: AuditOrigin,
): Promise<KeyRow> {
  const { id } = await heldKey(tx, reference);
  const hasChanged = await mark(tx, id);
  const row = await keyAfterWrite(tx, id);
  if (hasChanged) await audit(tx, row, action, by, origin);
  return row;
}

function stored(key: GeneratedApiKey): Pick<GeneratedApiKey, 'keyId' | 'secretHash' | 'lastFour'> {
  return { keyId: key.keyId, secretHash: key.secretHash, lastFour: key.lastFour };
}

async function heldKey(tx: Queryable, reference: KeyReference): Promise<KeyRow> {
  const id = await lockKey(tx, reference);
  if (id === undefined) {
    const name = 'id' in reference ? reference.id : reference.keyId;
    throw new AccountError(
      'key_not_found',
      `There is no API key ${name}; \`millrace keys list\` shows them.`,
    );
  }
  return keyAfterWrite(tx, id);
}

async function keyAfterWrite(tx: Queryable, id: number): Promise<KeyRow> {
  const row = await findKey(tx, id);
  if (row === undefined) throw new Error(`API key ${id} is gone although this transaction holds it`);
  return row;
}

async function audit(
  tx: Queryable,
  row: KeyRow,
  action: AuditAction,
  by: AuditActor,
  origin: AuditOrigin,
  details: JsonObject = {},
): Promise<void> {
  await insertAudit(tx, {
    organisationId: row.organisation_id,
    action,
    by,
    ...origin,
    apiKeyId: row.id,
    details: { key_id: row.key_id, ...details },
  });
}

function checkName(text: string): string {
  const name = text.trim();
  if (name.length < 1 || [...name].length > 255) {
    throw new AccountError('invalid_value', 'A key name has 1 to 255 characters; say what the key is for.');
  }
  return name;
}

function checkScopes(texts: readonly string[]): Scope[] {
  const unknown = texts.filter((text) => !isScope(text));
  if (texts.length === 0 || unknown.length > 0) {
    const problem =
      unknown.length > 0
        ? `${unknown.map((text) => `"${text}"`).join(', ')} is not a scope`
        : 'A key needs a scope';
    throw new AccountError('invalid_value', `${problem}; choose from ${SCOPES.join(', ')}.`);
  }
  return SCOPES.filter((scope) => texts.includes(scope));
}
