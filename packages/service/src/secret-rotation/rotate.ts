import { countGrantsOfOtherKeys } from '@millrace/credentials/oauth/store';
import { sealedCredentials, sealedGrants } from '@millrace/credentials/reencrypt';
import { countCredentialsOfOtherKeys, listOrganisationsWithCredentials } from '@millrace/credentials/store';
import type { Queryable } from '@millrace/database/database';
import { LockTakenError } from '@millrace/database/errors';
import type { PgDatabase } from '@millrace/database/pool';
import { type AuditAction, type AuditActor, insertAudit } from '@millrace/identity/audit/store';
import { sealedSecondFactors } from '@millrace/identity/users/reencrypt';
import { countSecretsOfOtherKeys } from '@millrace/identity/users/second-factor-store';
import { message } from '@millrace/messages';
import { SecretError } from '@millrace/secrets/errors';
import { newKey, readKeyFile, replaceKeyFile } from '@millrace/secrets/key-file';
import { prepareSecretKeys, type SecretKeys } from '@millrace/secrets/keys';
import { BATCH, type OnBatch, reencrypt } from '@millrace/secrets/reencrypt';
import type { MasterKey } from '@millrace/secrets/sealed';
import {
  endCurrentKey,
  listSecretKeys,
  lockSecretKeys,
  putCurrentKey,
  retireReplacedKeys,
  type SecretKeyRow,
} from '@millrace/secrets/store';

export interface Rotation {
  /** Id of the current encryption key. */
  readonly keyId: string;
  /** Ids of the keys that are no longer needed. */
  readonly retired: readonly string[];
  readonly reencrypted: number;
  /** True if it only completed an interrupted rotation. */
  readonly isResumed: boolean;
}

/**
 * The steps of a rotation. Each is reported once it is durable; ending the process after any of them loses nothing, and the
 * next rotation continues from there.
 */
export type RotationStep =
  | { readonly step: 'key_written' }
  | { readonly step: 'key_changed'; readonly total: number }
  | { readonly step: 'batch'; readonly done: number; readonly total: number }
  | { readonly step: 'key_retired' };

/** Any constant will do, as long as every version of Millrace uses the same one. */
const LOCK = 7_303_014_005;

/**
 * Re-encrypts everything under another key: a new one in the key file, or MILLRACE_SECRET_KEY while
 * MILLRACE_SECRET_KEY_PREVIOUS has the former one. The service may keep running: both keys decrypt until everything is done,
 * and only then is the former key dropped. An interrupted rotation is only completed, and nothing else is done.
 * @param batch records of a transaction
 * @throws SecretError `nothing_to_rotate`, `rotation_running`, `rotation_incomplete`, `secret_key_missing`
 */
export async function rotateSecrets(
  db: PgDatabase,
  keys: SecretKeys,
  by: AuditActor,
  onStep: (step: RotationStep) => void | Promise<void> = () => {},
  batch: number = BATCH,
): Promise<Rotation> {
  await prepareSecretKeys(db, keys, { makesKey: true });
  const rotation = db.withLock(LOCK, async () => {
    const before = await listSecretKeys(db);
    const isResumed = before.some(({ state }) => state === 'retiring') || (await hasRetired(keys, before));
    if (!isResumed) await changeKey(db, keys, before, by, onStep);
    const counts = [countCredentialsOfOtherKeys, countGrantsOfOtherKeys, countSecretsOfOtherKeys];
    const total = (await Promise.all(counts.map((count) => count(db)))).reduce(
      (sum, count) => sum + count,
      0,
    );
    await onStep({ step: 'key_changed', total });
    const onBatch: OnBatch = (count) => onStep({ step: 'batch', done: count, total });
    const done = await reencryptAll(db, keys, onBatch, batch);
    const retired = await retire(db, by);
    await onStep({ step: 'key_retired' });
    await dropRetired(db, keys);
    return { keyId: currentOf(await listSecretKeys(db)), retired, reencrypted: done, isResumed };
  });
  return await rotation.catch((error: unknown) => {
    if (!(error instanceof LockTakenError)) throw error;
    throw new SecretError('rotation_running', message('secrets.rotation_running'));
  });
}

/** @throws SecretError `rotation_incomplete` */
async function reencryptAll(
  db: PgDatabase,
  keys: SecretKeys,
  onBatch: OnBatch,
  batch: number,
): Promise<number> {
  /** Adds what was done before. */
  const after =
    (before: number): OnBatch =>
    (count) =>
      onBatch(before + count);
  const credentials = await reencrypt(db, keys, sealedCredentials(keys), onBatch, batch);
  const grants = await reencrypt(db, keys, sealedGrants(keys), after(credentials.done), batch);
  const before = credentials.done + grants.done;
  const people = await reencrypt(db, keys, sealedSecondFactors(keys), after(before), batch);
  const damaged = [...new Set([...credentials.damaged, ...grants.damaged].map(({ id }) => id))];
  if (damaged.length > 0) throw incomplete(damaged);
  if (people.damaged.length > 0) throw incompletePeople(people.damaged.map(({ email }) => email));
  return before + people.done;
}

/** From its commit on, everything new is encrypted with the next key. */
async function changeKey(
  db: PgDatabase,
  keys: SecretKeys,
  before: readonly SecretKeyRow[],
  by: AuditActor,
  onStep: (step: RotationStep) => void | Promise<void>,
): Promise<void> {
  const from = currentOf(before);
  const next = keys.source === 'variable' ? await keys.own() : await nextInFile(keys, before);
  if (next.id === from) {
    throw new SecretError('nothing_to_rotate', message('secrets.nothing_to_rotate', { key: from }));
  }
  await onStep({ step: 'key_written' });
  await db.transaction(async (tx) => {
    await lockSecretKeys(tx);
    await endCurrentKey(tx, 'retiring');
    await putCurrentKey(tx, next.id);
    await auditAll(tx, 'credential.key_rotation_started', by, { from, to: next.id });
  });
}

/** A key the database has never seen: one left by an interrupted rotation, or a new one, written to the file first. */
async function nextInFile(keys: SecretKeys, before: readonly SecretKeyRow[]): Promise<MasterKey> {
  const inFile = await readKeyFile(keys.filePath);
  const unused = inFile.find((key) => before.every(({ id }) => id !== key.id));
  if (unused !== undefined) return unused;
  const key = newKey();
  await replaceKeyFile(keys.filePath, [key, ...inFile]);
  return key;
}

/** Nothing can be encrypted with the former key any more: the key change waited for encryptions in progress. */
async function retire(db: PgDatabase, by: AuditActor): Promise<readonly string[]> {
  return db.transaction(async (tx) => {
    await lockSecretKeys(tx);
    const retired = await retireReplacedKeys(tx);
    const to = currentOf(await listSecretKeys(tx));
    for (const from of retired) await auditAll(tx, 'credential.key_rotated', by, { from, to });
    return retired;
  });
}

async function hasRetired(keys: SecretKeys, rows: readonly SecretKeyRow[]): Promise<boolean> {
  if (keys.source === 'variable') return false;
  const retired = retiredIds(rows);
  return (await readKeyFile(keys.filePath)).some(({ id }) => retired.includes(id));
}

async function dropRetired(db: PgDatabase, keys: SecretKeys): Promise<void> {
  if (keys.source === 'variable') return;
  const retired = retiredIds(await listSecretKeys(db));
  const inFile = await readKeyFile(keys.filePath);
  const kept = inFile.filter(({ id }) => !retired.includes(id));
  if (kept.length < inFile.length) await replaceKeyFile(keys.filePath, kept);
}

function retiredIds(rows: readonly SecretKeyRow[]): string[] {
  return rows.filter(({ state }) => state === 'retired').map(({ id }) => id);
}

function currentOf(rows: readonly SecretKeyRow[]): string {
  const current = rows.find(({ state }) => state === 'current');
  if (current === undefined) throw new Error('the database has no current key although one was put there');
  return current.id;
}

async function auditAll(
  tx: Queryable,
  action: AuditAction,
  by: AuditActor,
  details: { readonly from: string; readonly to: string },
): Promise<void> {
  for (const organisationId of await listOrganisationsWithCredentials(tx)) {
    await insertAudit(tx, { organisationId, action, by, details });
  }
}

function incomplete(damaged: readonly number[]): SecretError {
  return new SecretError(
    'rotation_incomplete',
    message('secrets.rotation_left_credentials', { count: damaged.length, damaged: damaged.join(', ') }),
  );
}

function incompletePeople(damaged: readonly string[]): SecretError {
  return new SecretError(
    'rotation_incomplete',
    message('secrets.rotation_left_people', { count: damaged.length, damaged: damaged.join(', ') }),
  );
}
