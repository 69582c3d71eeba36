import { Buffer } from 'node:buffer';
import { secondFactorOf } from '@millrace/identity/users/second-factor';
import type { SecretKeys } from '@millrace/secrets/keys';
import { prepareSecretKeys } from '@millrace/secrets/keys';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { createKeyFolder, type KeyFolder, keysOfVariable } from '@millrace/testing/secret-keys';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { OPERATOR } from '../../../credentials/test/support.ts';
import { discardLostSecondFactors } from '../../src/secret-rotation/reset.ts';
import { rotateSecrets } from '../../src/secret-rotation/rotate.ts';

let database: TestDatabase;
let folder: KeyFolder;
beforeEach(async () => {
  database = await createTestDatabase();
  folder = await createKeyFolder();
});
afterEach(async () => {
  await database.drop();
  await folder.remove();
});

/** More than one batch. */
const COUNT = 130;

async function storeSecondFactors(keys: SecretKeys, count = COUNT): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await database.db.transaction(async (tx) => {
      const [user] = await tx.query<{ id: number }>(
        `INSERT INTO users (email, name) VALUES ($1, 'Ada') RETURNING id`,
        [`ada${index}@example.com`],
      );
      const id = user?.id ?? 0;
      const { keyId, ciphertext } = await keys.seal(tx, `SECRET${id}`, secondFactorOf(id));
      await tx.query(
        'UPDATE users SET totp_key_id = $2, totp_ciphertext = $3, totp_confirmed_at = now() WHERE id = $1',
        [id, keyId, ciphertext],
      );
    });
  }
}

interface Row {
  readonly id: number;
  readonly key_id: string | null;
  readonly ciphertext: Buffer | null;
}

const readAll = (): Promise<Row[]> =>
  database.db.query<Row>(
    'SELECT id, totp_key_id AS key_id, totp_ciphertext AS ciphertext FROM users ORDER BY id',
  );

test('a rotation re-encrypts second factors, and only then drops the old key', async () => {
  await storeSecondFactors(folder.open());
  const rotation = await rotateSecrets(database.db, folder.open(), OPERATOR);
  expect(rotation.reencrypted).toBe(COUNT);
  const rows = await readAll();
  expect(new Set(rows.map((row) => row.key_id))).toEqual(new Set([rotation.keyId]));
  const keys = folder.open();
  for (const { id, ciphertext } of rows)
    expect(await keys.unseal(ciphertext ?? Buffer.alloc(0), secondFactorOf(id))).toBe(`SECRET${id}`);
});

test("one that can't be decrypted is named, and keeps the old key", async () => {
  await storeSecondFactors(folder.open(), 3);
  const [, second] = await readAll();
  await database.db.query(
    'UPDATE users SET totp_ciphertext = set_bit(totp_ciphertext, 400, 1 - get_bit(totp_ciphertext, 400)) WHERE id = $1',
    [second?.id],
  );
  await expect(rotateSecrets(database.db, folder.open(), OPERATOR)).rejects.toMatchObject({
    code: 'rotation_incomplete',
    message: expect.stringContaining('ada1@example.com'),
  });
  await database.db.query(
    'UPDATE users SET totp_key_id = NULL, totp_ciphertext = NULL, totp_confirmed_at = NULL WHERE id = $1',
    [second?.id],
  );
  expect(await rotateSecrets(database.db, folder.open(), OPERATOR)).toMatchObject({ isResumed: true });
});

test("a process without their key doesn't start; if it is lost they are discarded", async () => {
  await storeSecondFactors(folder.open(), 2);
  const keys = keysOfVariable();
  await expect(prepareSecretKeys(database.db, keys, { makesKey: false })).rejects.toMatchObject({
    code: 'secret_key_missing',
  });
  expect(await discardLostSecondFactors(database.db, keys)).toEqual(['ada0@example.com', 'ada1@example.com']);
  await prepareSecretKeys(database.db, keys, { makesKey: false });
  expect((await readAll()).every((row) => row.ciphertext === null)).toBe(true);
});
