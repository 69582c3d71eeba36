import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFiles } from '@millrace/files/files';
import { createOwnedStore } from '@millrace/files/folder-owner';
import { readInstallationId } from '@millrace/files/owned-store';
import { createOrganisation } from '@millrace/identity/organisations/store';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { type S3Server, startS3Server } from '@millrace/testing/s3-server';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { millrace } from './millrace.ts';

let database: TestDatabase;
let server: S3Server;
let folder: string;
const ids: string[] = [];
beforeAll(async () => {
  [database, server, folder] = await Promise.all([
    createTestDatabase(),
    startS3Server(),
    mkdtemp(join(tmpdir(), 'millrace-copy-')),
  ]);
  const { db } = database;
  const store = createOwnedStore(folder, () => readInstallationId(db));
  const settings = { maxBytes: 1e6, organisationBytes: 0, freeDiskBytes: 0, unusedMs: 1e9 };
  const files = createFiles({ db, store, settings });
  const { id } = await createOrganisation(db, randomUUID(), { actor: 'operator' });
  for (const text of ['first', 'second', 'third']) {
    const file = {
      organisationId: id,
      executionId: null,
      name: text,
      type: 'text/plain',
      declaredBytes: null,
    };
    const source = [Buffer.from(text)] as unknown as AsyncIterable<Uint8Array>;
    ids.push((await files.save(file, source)).$file);
  }
});
afterAll(async () => {
  await Promise.all([database.drop(), server.stop(), rm(folder, { recursive: true, force: true })]);
});

/** The settings of the bucket, as an operator sets them before the move. */
const bucketEnv = () => ({
  DATABASE_URL: database.url,
  MILLRACE_FILES_STORE: `s3://${server.settings.bucket}/moved`,
  MILLRACE_FILES_S3_ENDPOINT: server.settings.endpoint,
  MILLRACE_FILES_S3_REGION: server.settings.region,
  MILLRACE_FILES_S3_ACCESS_KEY: server.settings.accessKeyId,
  MILLRACE_FILES_S3_SECRET_KEY: server.settings.secretAccessKey,
});

it('files copy takes files from a folder to a bucket, once, and says which it could not read', async () => {
  const [, second = '', third = ''] = ids;
  await writeFile(join(folder, third.slice(0, 2), third), 'other');
  const first = await millrace(['files', 'copy', folder, '--json'], { env: bucketEnv() });
  expect([first.exitCode, first.stderr]).toEqual([1, '']);
  expect(JSON.parse(first.stdout)).toEqual({ copied: 2, bytes: 11, present: 0, unreadable: [third] });
  expect(server.objects.get(`moved/${second}`)?.toString()).toBe('second');
  expect(server.objects.has(`moved/${third}`)).toBe(false);

  await writeFile(join(folder, third.slice(0, 2), third), 'third');
  const again = await millrace(['files', 'copy', folder], { env: bucketEnv() });
  expect(again).toMatchObject({ exitCode: 0 });
  expect(again.stdout).toContain(`Copied 1 file (1 KB) from ${folder}; 2 were there already.`);
});

it('files copy goes back, and refuses what makes no sense', async () => {
  const { bucket } = server.settings;
  const target = join(folder, 'back');
  const env = { ...bucketEnv(), MILLRACE_FILES_STORE: '', MILLRACE_FILES_FOLDER: target };
  const back = await millrace(['files', 'copy', `s3://${bucket}/moved`, '--json'], { env });
  expect(JSON.parse(back.stdout)).toMatchObject({ copied: 3, unreadable: [] });
  expect(await millrace(['files', 'copy', target], { env })).toMatchObject({ exitCode: 2 });
  expect(await millrace(['files', 'copy', 's3://B!'], { env })).toMatchObject({ exitCode: 2 });
});
