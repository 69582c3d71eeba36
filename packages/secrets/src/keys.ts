import type { Database, Queryable } from '@millrace/database/database';
import { message } from '@millrace/messages';
import { SecretError } from './errors.ts';
import { createKeyFile, keyFilePath, readKeyFile } from './key-file.ts';
import { keyIdOf, type MasterKey, masterKey, seal, unseal } from './sealed.ts';
import type { SecretKeySettings } from './settings.ts';
import {
  endCurrentKey,
  listKeysInUse,
  listSecretKeys,
  lockCurrentKey,
  lockSecretKeys,
  putCurrentKey,
} from './store.ts';

/** A sealed string and the id of its key, as stored. */
export interface Sealed {
  readonly keyId: string;
  readonly ciphertext: Buffer;
}

export type SecretKeys = ReturnType<typeof createSecretKeys>;

/**
 * The keys of this process. The database decides which one encrypts, so that all processes switch at the same time. Reads no key yet: the
 * file is opened when first needed.
 */
export function createSecretKeys(config: SecretKeySettings) {
  const { current, previous } = config.secretKeys;
  const given = current === null ? [] : [current, ...previous].map(masterKey);
  const [variable] = given;
  const filePath = keyFilePath(config.dataDir);
  const known = new Map(given.map((key) => [key.id, key]));

  const source: 'file' | 'variable' = variable === undefined ? 'file' : 'variable';
  const keys = {
    source,
    filePath,
    /** Encrypts with the current key, which stays current until the transaction ends. @throws SecretError */
    async seal(tx: Queryable, text: string, belongsTo: string): Promise<Sealed> {
      const id = (await lockCurrentKey(tx)) ?? (await adoptKey(tx, keys, { replaces: false }));
      return { keyId: id, ciphertext: seal(await keys.find(id), text, belongsTo) };
    },
    /** @throws SecretError `secret_key_missing`, `secret_damaged` */
    async unseal(ciphertext: Buffer, belongsTo: string): Promise<string> {
      return unseal(await keys.find(keyIdOf(ciphertext)), ciphertext, belongsTo);
    },
    /** The key with this id. @throws SecretError `secret_key_missing` */
    async find(id: string): Promise<MasterKey> {
      // The file may have gained a key since it was read; with MILLRACE_SECRET_KEY set, it may still contain the previous key.
      if (!known.has(id)) for (const key of await readKeyFile(filePath)) known.set(key.id, key);
      const key = known.get(id);
      if (key === undefined) throw missing(id, [...known.keys()], keys);
      return key;
    },
    /** MILLRACE_SECRET_KEY, else the first key in the file, which is created when missing. */
    async own(): Promise<MasterKey> {
      if (variable !== undefined) return variable;
      const [first] = await createKeyFile(filePath);
      if (first !== undefined) return first;
      throw new SecretError('secret_key_file', message('secrets.key_file_empty', { path: filePath }));
    },
  };
  return keys;
}

/**
 * Makes sure this process has every key it needs before it starts working. A database without encrypted records adopts whatever key it is
 * given.
 * @param options.makesKey whether to create a file when there is no key at all
 * @throws SecretError `secret_key_missing` with what to do, `secret_key_file`
 */
export async function prepareSecretKeys(
  db: Database,
  keys: SecretKeys,
  options: { readonly makesKey: boolean },
): Promise<void> {
  for (const id of await listKeysInUse(db)) await keys.find(id);
  const hasKey = keys.source === 'variable' || (await readKeyFile(keys.filePath)).length > 0;
  if (hasKey || options.makesKey) await db.transaction((tx) => adoptKey(tx, keys, { replaces: true }));
}

/**
 * Id of the current key; if there is none, this process's own becomes it.
 * @param options.replaces a current key that this process lacks is replaced while nothing at all is encrypted; `tx` must then see all
 * organisations
 * @throws SecretError `secret_key_missing`
 */
async function adoptKey(
  tx: Queryable,
  keys: SecretKeys,
  options: { readonly replaces: boolean },
): Promise<string> {
  await lockSecretKeys(tx);
  const current = (await listSecretKeys(tx)).find(({ state }) => state === 'current');
  if (current !== undefined) {
    if (!options.replaces || (await hasKey(keys, current.id))) return (await keys.find(current.id)).id;
    // Waits for transactions that are encrypting with it, so that the next check sees their records.
    await endCurrentKey(tx, 'retired');
    for (const id of await listKeysInUse(tx)) await keys.find(id);
  }
  const own = await keys.own();
  await putCurrentKey(tx, own.id);
  return own.id;
}

/** Whether this process has the key. */
export async function hasKey(keys: SecretKeys, id: string): Promise<boolean> {
  try {
    await keys.find(id);
    return true;
  } catch (error) {
    if (error instanceof SecretError && error.code === 'secret_key_missing') return false;
    throw error;
  }
}

function missing(wanted: string, had: readonly string[], keys: SecretKeys): SecretError {
  const has =
    had.length === 0 ? message('secrets.has_no_key') : message('secrets.has_keys', { keys: had.join(', ') });
  const remedy =
    keys.source === 'variable'
      ? message('secrets.set_former_key')
      : message('secrets.restore_key_file', { path: keys.filePath });
  return new SecretError('secret_key_missing', message('secrets.key_missing', { wanted, has, remedy }));
}
