import { randomUUID } from 'node:crypto';
import { createFiles } from '@millrace/files/files';
import { openStore } from '@millrace/files/open-store';
import { readInstallationId } from '@millrace/files/owned-store';
import { createOrganisation } from '@millrace/identity/organisations/store';
import { createSecretKeys, prepareSecretKeys } from '@millrace/secrets/keys';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { type S3Server, startS3Server } from '@millrace/testing/s3-server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { examine } from '../../src/doctor/doctor.ts';

let database: TestDatabase;
let server: S3Server;
beforeAll(async () => {
  [database, server] = await Promise.all([createTestDatabase(), startS3Server()]);
});
afterAll(async () => {
  await Promise.all([database.drop(), server.stop()]);
});

async function found(): Promise<readonly string[]> {
  const s3 = { ...server.settings, prefix: '' };
  const installation = {
    host: '127.0.0.1',
    publicUrl: 'http://127.0.0.1:1',
    publicUrlIsExplicit: true,
    trustProxy: [],
    dataDir: null,
    files: { folder: '/nowhere', freeDiskBytes: 0, s3 },
    connectionsPerProcess: 1,
  };
  const secretKeys = createSecretKeys({
    secretKeys: { current: Buffer.alloc(32, 1), previous: [] },
    dataDir: '/nowhere',
  });
  await prepareSecretKeys(database.db, secretKeys, { makesKey: false });
  const { findings } = await examine({ db: database.db, secretKeys, installation });
  return findings.filter(({ check }) => check === 'files').map(({ what }) => what.key);
}

test('a bucket: not used yet, in use, without a file, somebody else’s, and out of reach', async () => {
  const { db } = database;
  const before = server.objects.size;
  expect(await found()).toEqual([]);
  expect(server.objects.size).toBe(before);

  const settings = { maxBytes: 1e6, organisationBytes: 0, freeDiskBytes: 1e18, unusedMs: 1e6 };
  const s3 = { ...server.settings, prefix: '' };
  const files = createFiles({
    db,
    settings,
    store: openStore({ folder: '/nowhere', s3 }, () => readInstallationId(db)),
  });
  const { id } = await createOrganisation(db, randomUUID(), { actor: 'operator' });
  const file = { organisationId: id, executionId: null, name: 'a', type: 'text/plain', declaredBytes: null };
  const { $file } = await files.save(file, [Buffer.from('abc')] as unknown as AsyncIterable<Uint8Array>);
  expect(await found()).toEqual([]);

  server.objects.delete($file);
  expect(await found()).toEqual(['doctor.contents_missing']);

  server.objects.set('installation', Buffer.from('another\n'));
  expect(await found()).toEqual(['doctor.bucket_foreign']);

  server.fault = () => ({ status: 403, code: 'AccessDenied' });
  expect(await found()).toEqual(['doctor.bucket_unreachable']);
});
