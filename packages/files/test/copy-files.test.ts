import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { message } from '@millrace/messages';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { insertWorkflow } from '@millrace/testing/rows';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyFiles } from '../src/copy-files.ts';
import { FileError } from '../src/file-error.ts';
import { createFolderStore } from '../src/folder-store.ts';

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  [database, folder] = await Promise.all([createTestDatabase(), mkdtemp(join(tmpdir(), 'millrace-copied-'))]);
});
afterAll(async () => {
  await Promise.all([database.drop(), rm(folder, { recursive: true, force: true })]);
});

/** Files below the folder that this process has open. */
async function openFiles(): Promise<string[]> {
  const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
  return (await Promise.all(links)).filter((path) => path.startsWith(folder));
}

test('a store that is full before the first byte leaves nothing open', async () => {
  const from = createFolderStore(join(folder, 'from'));
  const { organisationId } = await insertWorkflow(database.db, 'Acme');
  const content = Buffer.from('abc');
  const id = randomUUID();
  await from.write(id, Readable.from([content]));
  await database.db.query(
    `INSERT INTO files (id, organisation_id, state, name, type, size, sha256)
     VALUES ($1, $2, 'stored', 'a', 'text/plain', $3, $4)`,
    [id, organisationId, content.length, createHash('sha256').update(content).digest()],
  );
  const full = new FileError('file_store_full', message('service.file_disk_full'));
  const to = { ...createFolderStore(join(folder, 'to')), write: () => Promise.reject(full) };
  await expect(copyFiles(database.db, from, to)).rejects.toBe(full);
  expect(await openFiles()).toEqual([]);
});
