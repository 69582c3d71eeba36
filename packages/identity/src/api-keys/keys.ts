import { SCOPES, type Scope } from '@millrace/admin-api';
import type { Database, Queryable } from '@millrace/database/database';
import type { JsonObject } from '@millrace/engine';
import { message } from '@millrace/messages';
import { type AuditAction, type AuditActor, insertAudit } from '../audit/store.ts';
import { AccountError } from '../values/account-error.ts';
import { findNameProblem } from '../values/names.ts';
import { isScope } from '../values/roles.ts';
import { type GeneratedApiKey, generateApiKey } from './key.ts';
import {
  findKey,
  findSuccessor,
  insertKey,
  insertSuccessor,
  type KeyHolder,
  type KeyReference,
  type KeyRow,
  listKeysOfAccount,
  lockKey,
  markRevoked,
  markRotated,
  markUnlocked,
} from './store.ts';

export interface KeyIssue {
  readonly organisationId: number;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt?: Date | null;
  /** Whose key it is; null for the operator. Default: the issuer. */
  readonly holder?: KeyHolder | null;
}

/** A newly issued key. `text` is shown to its owner once and not stored. */
export interface IssuedKey {
  readonly text: string;
  readonly row: KeyRow;
}

/**
 * Issues a key and records it.
 * @throws AccountError `invalid_value` for the name, the scopes or an expiry in the past
 */
export async function issueKey(db: Database, issue: KeyIssue, by: AuditActor): Promise<IssuedKey> {
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
      holder: issue.holder === undefined ? holderOf(by) : issue.holder,
      expiresAt,
    });
    const row = await keyAfterWrite(tx, id);
    // The database's clock decides, so the row is written first and the transaction rolled back.
    if (row.state === 'expired') {
      throw new AccountError('invalid_value', message('identity.key_expiry_past'), '/expires_at');
    }
    await audit(tx, row, 'api_key.issued', by, {
      name,
      scopes,
      expires_at: expiresAt?.toISOString() ?? null,
    });
    return { text: key.text, row };
  });
}

/** Options of a rotation besides who rotates. */
export interface Rotation {
  /** Whose key the successor is; null for the operator. Default: whoever rotates, the only one to see its secret. */
  readonly holder?: KeyHolder | null;
}

/**
 * Issues a key's successor; the key itself keeps working for 24 hours at most. A key that already has a successor can't be
 * rotated again.
 * @throws AccountError `key_not_found`, `key_revoked`, `key_expired`, `key_rotated`
 */
export async function rotateKey(
  db: Database,
  reference: KeyReference,
  by: AuditActor,
  { holder = holderOf(by) }: Rotation = {},
): Promise<IssuedKey & { readonly predecessor: KeyRow }> {
  const key = generateApiKey();
  return db.transaction(async (tx) => {
    const current = await lockedKey(tx, reference);
    if (current.state === 'revoked' || current.state === 'expired') {
      const { id, state } = current;
      throw new AccountError(
        `key_${state}`,
        message(state === 'expired' ? 'identity.key_expired' : 'identity.key_revoked', { id }),
      );
    }
    if (current.rotated_at !== null) throw await rotatedBefore(tx, current);
    const successorId = await insertSuccessor(tx, current.id, { ...stored(key), holder });
    await markRotated(tx, current.id);
    const row = await keyAfterWrite(tx, successorId);
    const predecessor = await keyAfterWrite(tx, current.id);
    await audit(tx, predecessor, 'api_key.rotated', by, { successor_id: row.id });
    return { text: key.text, row, predecessor };
  });
}

/**
 * Revokes a key at once and permanently; repeating it changes nothing.
 * @throws AccountError `key_not_found`
 */
export async function revokeKey(db: Database, reference: KeyReference, by: AuditActor): Promise<KeyRow> {
  return db.transaction((tx) => change(tx, reference, markRevoked, 'api_key.revoked', by));
}

/** Revokes all keys of an account. */
export async function revokeKeysOfAccount(tx: Queryable, userId: number, by: AuditActor): Promise<void> {
  for (const reference of await listKeysOfAccount(tx, userId)) {
    await change(tx, reference, markRevoked, 'api_key.revoked', by);
  }
}

/**
 * Unlocks a key locked by failed authentications; does nothing if it isn't locked.
 * @throws AccountError `key_not_found`
 */
export async function unlockKey(db: Database, reference: KeyReference, by: AuditActor): Promise<KeyRow> {
  return db.transaction((tx) => change(tx, reference, markUnlocked, 'api_key.unlocked', by));
}

/** Changes a key under a lock, and records it if anything changed. */
async function change(
  tx: Queryable,
  reference: KeyReference,
  mark: (tx: Queryable, id: number) => Promise<boolean>,
  action: 'api_key.revoked' | 'api_key.unlocked',
  by: AuditActor,
): Promise<KeyRow> {
  const { id } = await lockedKey(tx, reference);
  const hasChanged = await mark(tx, id);
  const row = await keyAfterWrite(tx, id);
  if (hasChanged) await audit(tx, row, action, by);
  return row;
}

async function rotatedBefore(tx: Queryable, { id, key_id: keyId }: KeyRow): Promise<AccountError> {
  const successor = await findSuccessor(tx, id);
  if (successor === undefined)
    return new AccountError('key_rotated', message('identity.key_rotated', { id, key_id: keyId }));
  return new AccountError(
    'key_rotated',
    message('identity.key_rotated_to', {
      id,
      key_id: keyId,
      successor: successor.id,
      successor_key_id: successor.key_id,
      last_four: successor.last_four,
    }),
  );
}

/** Whose key it is that the actor creates; null for the operator. */
function holderOf(by: AuditActor): KeyHolder | null {
  switch (by.actor) {
    case 'user':
      return { userId: by.userId, memberId: by.memberId };
    case 'member':
      return { userId: null, memberId: by.memberId };
    case 'operator':
    case 'service':
      return null;
    case 'api_key':
      throw new Error('a key cannot make keys');
  }
}

function stored(key: GeneratedApiKey): Pick<GeneratedApiKey, 'keyId' | 'secretHash' | 'lastFour'> {
  return { keyId: key.keyId, secretHash: key.secretHash, lastFour: key.lastFour };
}

async function lockedKey(tx: Queryable, reference: KeyReference): Promise<KeyRow> {
  const id = await lockKey(tx, reference);
  if (id === undefined) throw keyNotFound(reference);
  return keyAfterWrite(tx, id);
}

/** @throws AccountError `key_not_found` */
export async function requireKey(db: Queryable, reference: KeyReference): Promise<KeyRow> {
  const row = await findKey(db, reference);
  if (row === undefined) throw keyNotFound(reference);
  return row;
}

function keyNotFound(reference: KeyReference): AccountError {
  const key = 'id' in reference ? reference.id : reference.keyId;
  return new AccountError('key_not_found', message('identity.key_unknown', { key }));
}

async function keyAfterWrite(tx: Queryable, id: number): Promise<KeyRow> {
  const row = await findKey(tx, { id });
  if (row === undefined) throw new Error(`API key ${id} is gone although this transaction holds it`);
  return row;
}

async function audit(
  tx: Queryable,
  row: KeyRow,
  action: AuditAction,
  by: AuditActor,
  details: JsonObject = {},
): Promise<void> {
  await insertAudit(tx, {
    organisationId: row.organisation_id,
    action,
    by,
    apiKeyId: row.id,
    details: { key_id: row.key_id, ...details },
  });
}

function checkName(text: string): string {
  const name = text.trim();
  const problem = findNameProblem(name);
  if (problem !== null)
    throw new AccountError(
      'invalid_value',
      message('identity.key_name', { fault: problem.message }),
      '/name',
    );
  return name;
}

function checkScopes(texts: readonly string[]): Scope[] {
  const unknown = texts.filter((text) => !isScope(text));
  const known = SCOPES.join(', ');
  if (texts.length === 0)
    throw new AccountError('invalid_value', message('identity.key_scope_missing', { known }), '/scopes');
  if (unknown.length > 0) {
    const scopes = unknown.map((text) => `"${text}"`).join(', ');
    throw new AccountError(
      'invalid_value',
      message('identity.key_scope_unknown', { scopes, known }),
      '/scopes',
    );
  }
  return SCOPES.filter((scope) => texts.includes(scope));
}
