import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { FileStore } from '@millrace/files/file-store';
import { createFolderStore } from '@millrace/files/folder-store';
import { registry } from '@millrace/nodes';
import type { SecretKeys } from '@millrace/secrets/keys';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { insertWorkflow } from '@millrace/testing/rows';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { readArchive } from '../../src/backup/archive.ts';
import { type BackupSummary, backUp } from '../../src/backup/backup.ts';
import { parseManifest } from '../../src/backup/manifest.ts';
import { restore } from '../../src/backup/restore.ts';
import type { RestoreOptions, RestoreSummary } from '../../src/backup/restoring.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const NO_KEYS = {} as SecretKeys;
/** One of several parts, one without a byte, a small one, and one that fills the end of the archive. */
const CONTENTS = [randomBytes(2_500_000), Buffer.alloc(0), Buffer.from('small'), randomBytes(300_000)];
const BYTES = 2_800_005;
/** What has to stay free. */
const KEPT = 1_000_000;

let source: TestDatabase;
let folder: string;
let store: FileStore;
let organisationId: number;
let ids: string[];
let count = 0;
let whole: Buffer;
beforeAll(async () => {
  source = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'millrace-files-in-backups-'));
  store = createFolderStore(join(folder, 'source'));
  ({ organisationId } = await insertWorkflow(source.db, 'Acme'));
  ids = [];
  for (const content of CONTENTS) ids.push(await addFile(content));
  ({ bytes: whole } = await backedUp());
});
afterAll(async () => {
  await source.drop();
  await rm(folder, { recursive: true });
});

async function addFile(content: Buffer): Promise<string> {
  // In an archive they are in the order of their ids.
  count += 1;
  const id = `${count}${randomUUID().slice(1)}`;
  await store.write(id, Readable.from([content]));
  await source.db.query(
    `INSERT INTO files (id, organisation_id, state, name, type, size, sha256)
     VALUES ($1, $2, 'stored', 'a.bin', 'application/octet-stream', $3, $4)`,
    [id, organisationId, content.length, createHash('sha256').update(content).digest()],
  );
  return id;
}

async function backedUp(
  from: FileStore | null = store,
): Promise<{ readonly bytes: Buffer; readonly summary: BackupSummary }> {
  const out = new PassThrough();
  const bytes = buffer(out);
  const options = { productVersion: '1.2.3', passphrase: null, withKeys: false, store: from };
  const summary = await backUp(source.db, NO_KEYS, out, options);
  return { bytes: await bytes, summary };
}

interface Target {
  readonly database: TestDatabase;
  readonly store: FileStore;
  readonly folder: string;
}

/** An empty instance with a folder of its own. */
async function addTarget(): Promise<Target> {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const own = join(folder, randomUUID());
  return { database, store: createFolderStore(own), folder: own };
}

function restoreInto(
  { database, store: to }: Pick<Target, 'database' | 'store'>,
  bytes: Buffer,
  more: Partial<RestoreOptions> = {},
): Promise<RestoreSummary> {
  return restore(database.db, Readable.from([bytes]), {
    askPassphrase: () => Promise.reject(new Error('not encrypted')),
    placeKeys: async () => {},
    keys: { own: NO_KEYS, given: [] },
    isPaused: false,
    registry,
    files: { store: to, freeDiskBytes: 0 },
    ...more,
  });
}

/** Names of files in a folder and below it. */
async function namesIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

const rowsOf = ({ database }: Target) =>
  database.db.query<{ id: string }>('SELECT id FROM files ORDER BY id');
const refusal = (code: string) => expect.objectContaining({ name: 'BackupError', code });

const withFree = (target: Target, free: number): Target => ({
  ...target,
  store: { ...target.store, freeBytes: async () => free },
});
const keeping = (target: Target) => ({ files: { store: target.store, freeDiskBytes: KEPT } });

describe('a backup of everything', () => {
  test('has the contents of files, and a restore writes them back if there is just enough space', async () => {
    const target = withFree(await addTarget(), BYTES + KEPT);
    expect(await restoreInto(target, whole, keeping(target))).toMatchObject({ files: CONTENTS.length });
    for (const [index, id] of ids.entries()) {
      const content = CONTENTS[index] ?? Buffer.from('?');
      expect((await buffer(await target.store.read(id, content.length))).equals(content)).toBe(true);
    }
    expect(await namesIn(target.folder)).toHaveLength(CONTENTS.length);
  });

  test('is refused before anything is written if there is less', async () => {
    const target = withFree(await addTarget(), BYTES + KEPT - 1);
    const refused = await restoreInto(target, whole, keeping(target)).catch((error: unknown) => error);
    expect(refused).toEqual(refusal('restore_space'));
    expect(String(refused)).toContain(`The backup has ${BYTES} bytes of files`);
    expect(String(refused)).toContain(`room for ${BYTES - 1} `);
    expect(await namesIn(target.folder)).toEqual([]);
    expect(await rowsOf(target)).toEqual([]);
  });

  test('names files that are missing or changed, and everything else is restored', async () => {
    const missing = await addFile(Buffer.from('missing'));
    await store.delete(missing);
    const changed = await addFile(Buffer.from('changed'));
    await store.write(changed, Readable.from([Buffer.from('CHANGED')]));
    onTestFinished(async () => {
      await source.db.query('DELETE FROM files WHERE id = ANY ($1)', [[missing, changed]]);
    });
    const { bytes, summary } = await backedUp();
    expect(summary.checksums.files?.unreadable.toSorted()).toEqual([missing, changed].toSorted());
    const target = await addTarget();
    await restoreInto(target, bytes);
    expect((await namesIn(target.folder)).toSorted()).toEqual(ids.toSorted());
    expect(await rowsOf(target)).toHaveLength(CONTENTS.length + 2);
  });

  test('leaves no file if its end is missing, except for those that were there before', async () => {
    const target = await addTarget();
    const [before = ''] = ids;
    const [content = Buffer.of()] = CONTENTS;
    await target.store.write(before, Readable.from([content]));
    // In the last file, and in the one that was there before.
    for (const missing of [50, 1_000_000]) {
      const cut = restoreInto(target, whole.subarray(0, whole.length - missing));
      await expect(cut).rejects.toEqual(refusal('backup_damaged'));
      expect(await namesIn(target.folder)).toEqual([before]);
      expect((await buffer(await target.store.read(before, content.length))).equals(content)).toBe(true);
      expect(await rowsOf(target)).toEqual([]);
    }
  });
});

describe('without files', () => {
  test('a backup has their rows only, needs no space, and has a form that earlier versions know', async () => {
    const { bytes, summary } = await backedUp(null);
    expect(bytes.length).toBeLessThan(BYTES);
    expect(summary.checksums.files).toBeUndefined();
    const first = (await readArchive(Readable.from([bytes]), async () => '').next()).value;
    const manifest = parseManifest(first?.body ?? Buffer.of());
    expect(manifest).toMatchObject({ format_version: 1 });
    expect(manifest.files).toBeUndefined();
    const target = withFree(await addTarget(), 0);
    expect(await restoreInto(target, bytes, keeping(target))).toMatchObject({ files: 0 });
    expect(await rowsOf(target)).toHaveLength(CONTENTS.length);
    expect(await namesIn(target.folder)).toEqual([]);
  });

  test('a restore passes over the contents that a backup has', async () => {
    const target = await addTarget();
    expect(await restoreInto(target, whole, { files: null })).toMatchObject({ files: 0 });
    expect(await rowsOf(target)).toHaveLength(CONTENTS.length);
    expect(await namesIn(target.folder)).toEqual([]);
  });
});
