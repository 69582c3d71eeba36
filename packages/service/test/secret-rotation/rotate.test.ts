import { randomBytes } from 'node:crypto';
import { changeCredential } from '@millrace/credentials/credentials';
import type { JsonObject } from '@millrace/engine';
import { readKeyFile } from '@millrace/secrets/key-file';
import { createSecretKeys, prepareSecretKeys, type SecretKeys } from '@millrace/secrets/keys';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { createKeyFolder, type KeyFolder, keysOfVariable } from '@millrace/testing/secret-keys';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newOrganisation, OPERATOR, openAs, storeCredential } from '../../../credentials/test/support.ts';
import { discardLostSecrets } from '../../src/secret-rotation/reset.ts';
import { type RotationStep, rotateSecrets } from '../../src/secret-rotation/rotate.ts';

let database: TestDatabase;
let folder: KeyFolder;
let organisationId: number;
beforeEach(async () => {
  database = await createTestDatabase();
  folder = await createKeyFolder();
  organisationId = await newOrganisation(database);
});
afterEach(async () => {
  await database.drop();
  await folder.remove();
});

/** More than two batches, which have a hundred unless a test asks for smaller ones. */
const COUNT = 230;
const SMALL = { batch: 10, count: 23 };

async function storeMany(keys: SecretKeys, count: number): Promise<number[]> {
  const values = Array.from({ length: count }, (_, index) => ({ value: `secret ${index}` }));
  const store = (fields: JsonObject) => storeCredential(database, keys, organisationId, 'secret', fields);
  // The first one alone: it determines which key there is.
  const first = await store(values[0] ?? {});
  const others = await Promise.all(values.slice(1).map(store));
  return [first, ...others].map(({ id }) => id);
}

async function expectReadable(keys: SecretKeys, ids: readonly number[]): Promise<void> {
  for (const [index, id] of ids.entries()) {
    const { credential } = await openAs(database, keys, organisationId, id, { types: ['secret'] });
    expect(credential).toEqual({ type: 'secret', value: `secret ${index}` });
  }
}

async function keysInUse(): Promise<string[]> {
  const rows = await database.db.query<{ key_id: string }>('SELECT DISTINCT key_id FROM credentials');
  return rows.map((row) => row.key_id);
}

async function auditActions(): Promise<string[]> {
  const rows = await database.db.query<{ action: string }>(
    `SELECT action FROM audit_log WHERE action LIKE 'credential.key%' ORDER BY id`,
  );
  return rows.map((row) => row.action);
}

function rotate(keys: SecretKeys, onStep?: (step: RotationStep) => void | Promise<void>, batch?: number) {
  return rotateSecrets(database.db, keys, OPERATOR, onStep, batch);
}

describe('rotation of the key in the file', () => {
  test('re-encrypts everything and drops the old key', async () => {
    const ids = await storeMany(folder.open(), COUNT);
    const [former] = await keysInUse();
    const steps: string[] = [];
    const rotation = await rotate(folder.open(), ({ step }) => void steps.push(step));
    expect(rotation).toMatchObject({ reencrypted: COUNT, retired: [former], isResumed: false });
    expect(steps).toEqual(['key_written', 'key_changed', 'batch', 'batch', 'batch', 'key_retired']);
    expect(await keysInUse()).toEqual([rotation.keyId]);
    const inFile = await readKeyFile(folder.open().filePath);
    expect(inFile.map(({ id }) => id)).toEqual([rotation.keyId]);
    await expectReadable(folder.open(), ids);
    expect(await auditActions()).toEqual(['credential.key_rotation_started', 'credential.key_rotated']);
    expect((await rotate(folder.open())).keyId).not.toBe(rotation.keyId);
  });

  test('a running process keeps reading and writing, and its writes are not lost', async () => {
    const running = folder.open();
    const ids = await storeMany(running, 12);
    const written: number[] = [];
    const write = async () => {
      const row = await storeCredential(database, running, organisationId, 'secret', { value: 'meanwhile' });
      written.push(row.id);
    };
    await rotate(folder.open(), write, SMALL.batch);
    await expectReadable(running, ids);
    expect(written).toHaveLength(5);
    for (const id of written) {
      const { credential } = await openAs(database, folder.open(), organisationId, id, { types: ['secret'] });
      expect(credential).toEqual({ type: 'secret', value: 'meanwhile' });
    }
  });

  test.each([1, 2, 3, 4, 5, 6])(
    'interrupted after step %i: nothing is lost, and the next one finishes it',
    async (last) => {
      const before = folder.open();
      const ids = await storeMany(before, SMALL.count);
      let count = 0;
      const breakOff = () => {
        count += 1;
        if (count === last) throw new Error('killed');
      };
      await expect(rotate(folder.open(), breakOff, SMALL.batch)).rejects.toThrow('killed');
      await expectReadable(folder.open(), ids);
      await expectReadable(before, ids);
      await prepareSecretKeys(database.db, folder.open(), { makesKey: true });
      const another = await storeCredential(database, folder.open(), organisationId, 'secret', {
        value: 'x',
      });

      const resumed = await rotate(folder.open(), undefined, SMALL.batch);
      // After the first step only the file has changed: that rotation hadn't started, and its key is not wasted.
      expect(resumed.isResumed).toBe(last > 1);
      expect(await keysInUse()).toEqual([resumed.keyId]);
      expect((await readKeyFile(folder.open().filePath)).map(({ id }) => id)).toEqual([resumed.keyId]);
      await expectReadable(folder.open(), ids);
      await openAs(database, folder.open(), organisationId, another.id, { types: ['secret'] });
      expect(await auditActions()).toEqual(['credential.key_rotation_started', 'credential.key_rotated']);
      const states = await database.db.query('SELECT state FROM secret_keys ORDER BY state');
      expect(states).toEqual([{ state: 'current' }, { state: 'retired' }]);
    },
  );

  test("a credential that can't be decrypted stays, is named, and keeps the old key", async () => {
    const ids = await storeMany(folder.open(), 3);
    await database.db.query(
      'UPDATE credentials SET ciphertext = set_bit(ciphertext, 400, 1 - get_bit(ciphertext, 400)) WHERE id = $1',
      [ids[1]],
    );
    await expect(rotate(folder.open())).rejects.toMatchObject({
      code: 'rotation_incomplete',
      message: expect.stringContaining(`outside of Millrace: ${ids[1]}.`),
    });
    expect(await readKeyFile(folder.open().filePath)).toHaveLength(2);
    await database.db.query('DELETE FROM credentials WHERE id = $1', [ids[1]]);
    expect(await rotate(folder.open())).toMatchObject({ isResumed: true, reencrypted: 0 });
    expect(await readKeyFile(folder.open().filePath)).toHaveLength(1);
  });

  test('only one runs at a time', async () => {
    await storeMany(folder.open(), 1);
    await rotate(folder.open(), async () => {
      await expect(rotate(folder.open())).rejects.toMatchObject({ code: 'rotation_running' });
    });
  });
});

describe('rotation of the key in the variable', () => {
  const [former, next] = [randomBytes(32), randomBytes(32)];

  test('needs both keys, and afterwards the old one is not needed any more', async () => {
    const ids = await storeMany(keysOfVariable(former), 3);
    await expect(rotate(keysOfVariable(former))).rejects.toMatchObject({ code: 'nothing_to_rotate' });
    await expect(rotate(keysOfVariable(next))).rejects.toMatchObject({ code: 'secret_key_missing' });
    const both = keysOfVariable(next, former);
    await prepareSecretKeys(database.db, both, { makesKey: false });
    await expectReadable(both, ids);
    expect(await rotate(both)).toMatchObject({ reencrypted: 3 });
    await expectReadable(keysOfVariable(next), ids);
    await expect(
      openAs(database, keysOfVariable(former), organisationId, ids[0] ?? 0, { types: ['secret'] }),
    ).rejects.toMatchObject({
      code: 'credential_unreadable',
      retryable: true,
    });
  });

  test('before it, processes with both keys still encrypt with the old one, which all have', async () => {
    const ids = await storeMany(keysOfVariable(former), 1);
    const row = await storeCredential(database, keysOfVariable(next, former), organisationId, 'secret', {
      value: 'secret 1',
    });
    await expectReadable(keysOfVariable(former), [...ids, row.id]);
  });

  test('can move from the file to the variable', async () => {
    const ids = await storeMany(folder.open(), 2);
    const keys = createSecretKeys({ dataDir: folder.dataDir, secretKeys: { current: next, previous: [] } });
    await rotate(keys);
    await expectReadable(keysOfVariable(next), ids);
  });
});

describe('a process with the wrong key', () => {
  test("doesn't start, says which key it lacks and what to do, and reveals no key", async () => {
    await storeMany(folder.open(), 1);
    const [wanted] = await keysInUse();
    const wrong = randomBytes(32);
    const start = prepareSecretKeys(database.db, keysOfVariable(wrong), { makesKey: true });
    await expect(start).rejects.toMatchObject({
      code: 'secret_key_missing',
      message: expect.stringMatching(
        new RegExp(`key ${wanted}, .*MILLRACE_SECRET_KEY_PREVIOUS.*secrets rotate`),
      ),
    });
    await expect(start).rejects.not.toThrow(wrong.toString('base64'));
  });

  test('on another machine creates no key of its own', async () => {
    await storeMany(folder.open(), 1);
    const elsewhere = await createKeyFolder();
    const start = prepareSecretKeys(database.db, elsewhere.open(), { makesKey: true });
    await expect(start).rejects.toMatchObject({
      message: expect.stringContaining('MILLRACE_SECRET_KEY on all machines'),
    });
    expect(await readKeyFile(elsewhere.open().filePath)).toEqual([]);
    await expect(storeCredential(database, elsewhere.open(), organisationId, 'secret')).rejects.toMatchObject(
      {
        code: 'secret_key_missing',
      },
    );
    await elsewhere.remove();
  });

  test('is accepted while nothing is encrypted', async () => {
    await prepareSecretKeys(database.db, folder.open(), { makesKey: true });
    const keys = keysOfVariable();
    await prepareSecretKeys(database.db, keys, { makesKey: false });
    await storeCredential(database, keys, organisationId, 'secret');
    expect(await keysInUse()).toEqual([(await keys.own()).id]);
  });

  test('can discard what is lost; the credentials keep their ids and accept new secrets', async () => {
    const ids = await storeMany(folder.open(), 2);
    const keys = keysOfVariable();
    const lost = await discardLostSecrets(database.db, keys, OPERATOR);
    expect(new Set(lost.map(({ id }) => id))).toEqual(new Set(ids));
    await prepareSecretKeys(database.db, keys, { makesKey: false });
    await expect(
      openAs(database, keys, organisationId, ids[0] ?? 0, { types: ['secret'] }),
    ).rejects.toMatchObject({
      explanation: expect.objectContaining({ key: 'ports.credential_key_lost' }),
    });
    await changeCredential(
      { db: database.db, keys },
      organisationId,
      ids[0] ?? 0,
      { fields: { value: 'secret 0' } },
      OPERATOR,
    );
    await expectReadable(keys, ids.slice(0, 1));
    expect(await discardLostSecrets(database.db, keys, OPERATOR)).toEqual([]);
  });
});

test('many processes that start at once agree on one key', async () => {
  const all = Array.from({ length: 8 }, () => keysOfVariable());
  const outcomes = await Promise.allSettled(
    all.map(async (keys) => {
      await prepareSecretKeys(database.db, keys, { makesKey: true });
      await storeCredential(database, keys, organisationId, 'secret');
    }),
  );
  // Each uses a different key here, so everyone after the first credential is refused.
  expect(outcomes.some(({ status }) => status === 'fulfilled')).toBe(true);
  expect(await keysInUse()).toHaveLength(1);
  await Promise.all(
    Array.from({ length: 8 }, () =>
      prepareSecretKeys(database.db, folder.open(), { makesKey: true }).catch(() => {}),
    ),
  );
  const current = await database.db.query(`SELECT FROM secret_keys WHERE state = 'current'`);
  expect(current).toHaveLength(1);
});
