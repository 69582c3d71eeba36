import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFolderStore } from '../src/folder-store.ts';
import { describeStore } from './store-contract.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-store-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describeStore('a folder', () => createFolderStore(join(folder, 'contract')));

test('only its user can read what it writes', async () => {
  const own = join(folder, 'modes');
  const store = createFolderStore(own);
  const id = randomUUID();
  await store.write(id, [Buffer.from('abc')] as unknown as AsyncIterable<Uint8Array>);
  const path = join(own, id.slice(0, 2));
  expect([(await stat(own)).mode & 0o777, (await stat(path)).mode & 0o777]).toEqual([0o700, 0o700]);
  expect((await stat(join(path, id))).mode & 0o777).toBe(0o600);
  expect(await readdir(path)).toEqual([id]);
});

test('a folder that is none makes the store unavailable, without naming the path', async () => {
  const path = join(folder, 'file');
  await writeFile(path, '');
  const writing = createFolderStore(path).write(randomUUID(), [] as unknown as AsyncIterable<Uint8Array>);
  await expect(writing).rejects.toMatchObject({ code: 'file_store_unavailable' });
  await expect(writing).rejects.not.toThrow(folder);
});
