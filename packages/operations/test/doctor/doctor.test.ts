import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sealAuditLog } from '@millrace/identity/audit/seal';
import { createOrganisation } from '@millrace/identity/organisations/store';
import { createSecretKeys, prepareSecretKeys, type SecretKeys } from '@millrace/secrets/keys';
import { verifyDueChains } from '@millrace/service/audit/chain-tasks';
import { rewriteAuditLog } from '@millrace/testing/audit-log';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { examine } from '../../src/doctor/doctor.ts';
import type { Installation } from '../../src/doctor/machine-findings.ts';

const INSTALLATION: Installation = {
  host: '127.0.0.1',
  // Nothing ever listens on it.
  publicUrl: 'http://127.0.0.1:1',
  publicUrlIsExplicit: true,
  trustProxy: false,
  dataDir: null,
  files: { folder: join(tmpdir(), 'millrace-doctor-no-folder'), freeDiskBytes: 0 },
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
