import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { FileStore } from '@millrace/files/file-store';
import { createFolderStore } from '@millrace/files/folder-store';
import { sealAuditLog } from '@millrace/identity/audit/seal';
import { createOrganisation } from '@millrace/identity/organisations/store';
import { createSecretKeys, prepareSecretKeys, type SecretKeys } from '@millrace/secrets/keys';
import { verifyDueChains } from '@millrace/service/audit/chain-tasks';
import { rewriteAuditLog } from '@millrace/testing/audit-log';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { lookForContents } from '../../src/doctor/contents.ts';
import { examine } from '../../src/doctor/doctor.ts';
import type { Installation } from '../../src/doctor/machine-findings.ts';

const INSTALLATION: Installation = {
  host: '127.0.0.1',
  // Nothing ever listens on it.
  publicUrl: 'http://127.0.0.1:1',
  publicUrlIsExplicit: true,
  trustProxy: false,
  dataDir: null,
  files: { folder: join(tmpdir(), 'millrace-doctor-no-folder'), freeDiskBytes: 0, s3: null },
  connectionsPerProcess: 1,
};
/** Found in every test: what the test server is set to, and what isn't running. */
const USUAL = new Set([
  'doctor.autovacuum_off',
  'doctor.setting_off',
  'doctor.role_unrestricted',
  'doctor.no_workers',
  'doctor.public_url_local',
  'doctor.unreachable',
  'doctor.disk_full',
]);

let database: TestDatabase;
let secretKeys: SecretKeys;
beforeEach(async () => {
  database = await createTestDatabase();
  const given = { current: randomBytes(32), previous: [] };
  secretKeys = createSecretKeys({ dataDir: '/nowhere', secretKeys: given });
  await prepareSecretKeys(database.db, secretKeys, { makesKey: false });
});
afterEach(() => database.drop());

async function found(now?: () => number): Promise<string[]> {
  const clock = now === undefined ? {} : { now };
  const { findings } = await examine({ db: database.db, secretKeys, installation: INSTALLATION, ...clock });
  return findings.filter(({ what }) => !USUAL.has(what.key)).map(({ level, what }) => `${level} ${what.key}`);
}

test('a sound installation has no findings, and every check is carried out', async () => {
  expect(await found()).toEqual([]);
  const { checks } = await examine({
    db: database.db,
    secretKeys,
    installation: { ...INSTALLATION, dataDir: process.cwd() },
  });
  expect([...checks].sort()).toEqual([
    'audit_log',
    'clock',
    'connections',
    'disk',
    'durability',
    'files',
    'keys',
    'migrations',
    'public_url',
    'server',
    'settings',
    'vectors',
    'workers',
  ]);
});

test('what is wrong in the database is found, each by itself', async () => {
  const { db } = database;
  await db.query("INSERT INTO secret_keys (id, state) VALUES ('0123456789abcdef', 'retiring')");
  expect(await found()).toEqual(['warning doctor.rotation_unfinished']);
  await db.query("DELETE FROM secret_keys WHERE state = 'retiring'");
  await db.query(
    'DELETE FROM schema_migrations WHERE version = (SELECT max(version) FROM schema_migrations)',
  );
  expect(await found()).toEqual(['error doctor.migrations_pending']);
});

test('files without content', async () => {
  const { id } = await createOrganisation(database.db, 'Acme', { actor: 'operator' });
  await sealAuditLog(database.db);
  await insertFile(id, randomUUID());
  expect(await found()).toEqual(['error doctor.contents_missing']);
});

describe('contents of files', () => {
  let organisationId: number;
  let folder: string;
  let store: FileStore;
  beforeEach(async () => {
    ({ id: organisationId } = await createOrganisation(database.db, 'Acme', { actor: 'operator' }));
    folder = await mkdtemp(join(tmpdir(), 'millrace-doctor-'));
    store = createFolderStore(folder);
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** With content, unless none is given. */
  async function addFile(content?: string): Promise<string> {
    const id = randomUUID();
    await insertFile(organisationId, id);
    if (content !== undefined) await store.write(id, Readable.from([Buffer.from(content)]));
    return id;
  }

  test('that are missing or shorter than they were are found', async () => {
    for (let count = 0; count < 20; count += 1) await addFile('abc');
    expect(await lookForContents(database.db, store)).toEqual({ looked: 20, missing: [] });
    const missing = [await addFile(), await addFile('ab')];
    expect(await lookForContents(database.db, store)).toEqual({ looked: 22, missing: missing.toSorted() });
  });

  test('that are deleted meanwhile are not missing', async () => {
    const id = await addFile();
    const deleting: FileStore = {
      ...store,
      async has(...file) {
        await database.db.query(`UPDATE files SET state = 'deleting', sweep_at = now() WHERE id = $1`, [id]);
        return store.has(...file);
      },
    };
    expect(await lookForContents(database.db, deleting)).toEqual({ looked: 1, missing: [] });
  });

  test('are looked at in all folders, but not all of them, nor for long', async () => {
    const seen: string[] = [];
    const counting: FileStore = {
      ...store,
      has: async (id) => {
        seen.push(id);
        return true;
      },
    };
    // 45 in the first folder and two in the last.
    const ids = Array.from(
      { length: 47 },
      (_, index) => `${index < 45 ? '00' : 'ff'}${randomUUID().slice(2)}`,
    );
    for (const id of ids) await insertFile(organisationId, id);
    expect(await lookForContents(database.db, counting)).toEqual({ looked: 42, missing: [] });
    expect(seen.filter((id) => id.startsWith('ff'))).toHaveLength(2);
    let calls = 0;
    const slow = () => {
      calls += 1;
      return calls * 4_000;
    };
    expect((await lookForContents(database.db, counting, slow)).looked).toBe(16);
  });
});

async function insertFile(organisationId: number, id: string): Promise<void> {
  await database.db.query(
    `INSERT INTO files (id, organisation_id, state, name, type, size, sha256)
     VALUES ($1, $2, 'stored', 'a.txt', 'text/plain', 3, $3)`,
    [id, organisationId, randomBytes(32)],
  );
}

test('an audit log that is not as it was recorded, not sealed, or not protected', async () => {
  const { db } = database;
  const { id } = await createOrganisation(db, 'Acme', { actor: 'operator' });
  await sealAuditLog(db);
  expect(await found()).toEqual([]);
  await rewriteAuditLog(db, 'UPDATE audit_log SET source_ip = $2 WHERE organisation_id = $1', [
    id,
    '192.0.2.1',
  ]);
  await verifyDueChains(db, 0, pino({ level: 'silent' }));
  expect(await found()).toEqual(['error doctor.audit_changed']);
  await db.query('UPDATE audit_chains SET problem = NULL');
  await db.query("INSERT INTO audit_pending VALUES (1000, $1, now() - interval '16 minutes')", [id]);
  await db.query('ALTER TABLE audit_log DISABLE TRIGGER audit_log_protect');
  expect(await found()).toEqual(['error doctor.audit_unprotected', 'warning doctor.audit_unsealed']);
});

test('a second factor that is encrypted with a key that is gone', async () => {
  await database.db.query(
    `INSERT INTO secret_keys (id, state, retired_at) VALUES ('0123456789abcdef', 'retired', now())`,
  );
  await database.db.query(
    `INSERT INTO users (email, name, password_hash, totp_ciphertext, totp_key_id, totp_confirmed_at)
     VALUES ('ada@example.com', 'Ada', 'x', '\\x00', '0123456789abcdef', now())`,
  );
  expect(await found()).toEqual(['error secrets.key_missing']);
});

test('a clock that differs by more than asking takes', async () => {
  expect(await found(() => Date.now() + 60_000)).toEqual(['error doctor.clock_ahead']);
  expect(await found(() => Date.now() - 10_000)).toEqual(['warning doctor.clock_behind']);
});

test('a check that fails is a finding itself', async () => {
  const { db } = database;
  await db.query('ALTER TABLE secret_keys RENAME TO others');
  expect(await found()).toEqual(['error doctor.check_failed']);
});

test('large collections that are searched without an index', async () => {
  const { id } = await createOrganisation(database.db, 'Acme', { actor: 'operator' });
  await sealAuditLog(database.db);
  const add = (name: string, items: number) =>
    database.db.query(
      'INSERT INTO vector_collections (organisation_id, name, model, dimension, items) VALUES ($1, $2, $3, 1000, $4)',
      [id, name, 'm', items],
    );
  await add('small', 4_000);
  expect(await found()).toEqual([]);
  await add('large', 5_000);
  expect(await found()).toEqual(['info doctor.vectors_compared']);
  // Larger than it can have become without an index: there was one.
  await add('lost', 17_000);
  expect(await found()).toEqual(['warning doctor.vectors_too_large']);
});
