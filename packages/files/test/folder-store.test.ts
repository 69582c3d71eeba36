import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOwnedStore, ForeignFolderError } from '../src/folder-owner.ts';
import { createFolderStore } from '../src/folder-store.ts';
import { describeStore } from './store-contract.ts';

const ownedBy = (id: string, path: string) => createOwnedStore(path, async () => id);
const BYTES = [Buffer.from('abc')] as unknown as AsyncIterable<Uint8Array>;
const UNAVAILABLE = { code: 'file_store_unavailable' };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-store-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describeStore('a folder', () => createFolderStore(join(folder, 'contract')));
describeStore('a folder of an installation', () => ownedBy('one', join(folder, 'owned')));

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

test('a file whose source fails leaves nothing in the folder', async () => {
  const path = join(folder, 'failing');
  const id = randomUUID();
  const failing = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from('abc');
    throw new Error('the source failed');
  };
  await expect(createFolderStore(path).write(id, failing())).rejects.toThrow('the source failed');
  expect(await readdir(join(path, id.slice(0, 2)))).toEqual([]);
});

test('a folder that is none makes the store unavailable, without naming the path', async () => {
  const path = join(folder, 'file');
  await writeFile(path, '');
  const writing = createFolderStore(path).write(randomUUID(), [] as unknown as AsyncIterable<Uint8Array>);
  await expect(writing).rejects.toMatchObject({ code: 'file_store_unavailable' });
  await expect(writing).rejects.not.toThrow(folder);
});

test("a folder is the first installation's, whose processes share it; another can do nothing there", async () => {
  const path = join(folder, 'shared');
  const id = randomUUID();
  const [first, second] = [ownedBy('one', path), ownedBy('one', path)];
  await Promise.all([first.freeBytes(), second.freeBytes()]);
  expect(await readdir(path)).toEqual(['installation']);
  await first.write(id, BYTES);

  const other = ownedBy('two', path);
  await expect(other.requireOwn()).rejects.toThrow(ForeignFolderError);
  await expect(other.requireOwn()).rejects.toThrow(`delete ${join(path, 'installation')}`);
  await expect(other.delete(id)).rejects.toMatchObject(UNAVAILABLE);
  await expect(other.delete(id)).rejects.not.toThrow(path);
  await expect(other.write(randomUUID(), BYTES)).rejects.toMatchObject(UNAVAILABLE);
  await expect(other.read(id, 3)).rejects.toMatchObject(UNAVAILABLE);
  await expect(other.freeBytes()).rejects.toMatchObject(UNAVAILABLE);
  (await second.read(id, 3)).destroy();
});

test('of installations that take a folder at the same time, one gets it', async () => {
  const path = join(folder, 'race');
  const claims = Array.from({ length: 8 }, (_, nth) => ownedBy(`installation ${nth}`, path).freeBytes());
  const results = await Promise.allSettled(claims);
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const winner = results.findIndex(({ status }) => status === 'fulfilled');
  expect(await readFile(join(path, 'installation'), 'utf8')).toBe(`installation ${winner}\n`);
});

test('a folder whose mark is deleted goes to another installation, and never back by itself', async () => {
  const path = join(folder, 'given');
  const id = randomUUID();
  const [former, later] = [ownedBy('former', path), ownedBy('later', path)];
  await former.write(id, BYTES);
  await rm(join(path, 'installation'));
  await expect(former.delete(id)).rejects.toMatchObject(UNAVAILABLE);
  await later.requireOwn();
  await later.freeBytes();
  await expect(former.delete(id)).rejects.toMatchObject(UNAVAILABLE);
  (await later.read(id, 3)).destroy();
});
