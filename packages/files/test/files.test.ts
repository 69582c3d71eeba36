import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '@millrace/database/database';
import type { FileValue } from '@millrace/engine';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { runSeed, runs } from '@millrace/testing/property-runs';
import { insertWorkflow } from '@millrace/testing/rows';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { FileStore } from '../src/file-store.ts';
import { createFiles } from '../src/files.ts';
import { createOwnedStore } from '../src/folder-owner.ts';
import { createFolderStore } from '../src/folder-store.ts';
import { readInstallationId } from '../src/owned-store.ts';
import { sweepFiles } from '../src/sweep.ts';

const SETTINGS = { maxBytes: 1_000_000, organisationBytes: 0, freeDiskBytes: 0, unusedMs: 86_400_000 };
const log = pino({ level: 'silent' });

let database: TestDatabase;
let db: Database;
let folder: string;
let workflow: { readonly organisationId: number; readonly workflowId: number };
beforeAll(async () => {
  database = await createTestDatabase();
  ({ db } = database);
  workflow = await insertWorkflow(db, 'one');
  folder = await mkdtemp(join(tmpdir(), 'millrace-files-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await database.drop();
});
beforeEach(async () => {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  await db.query('DELETE FROM executions');
  await db.query('DELETE FROM execution_files');
  await db.query('DELETE FROM files');
});

async function* bytesOf(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

/** The service as one process has it. */
function processOf(wrap: { db?: Database; store?: FileStore } = {}, settings = SETTINGS) {
  const deps = { db: wrap.db ?? db, store: wrap.store ?? createFolderStore(folder), log, settings };
  const files = createFiles(deps);
  const { organisationId } = workflow;
  return {
    files,
    upload: (text: string, more: { executionId?: number; name?: string; declaredBytes?: number } = {}) =>
      files.save(
        {
          organisationId,
          executionId: null,
          name: 'a.txt',
          type: 'text/plain',
          declaredBytes: null,
          ...more,
        },
        bytesOf(text),
      ),
    sweep: () => sweepFiles(deps),
  };
}

/** Starts an execution that names files. */
async function start(ids: readonly string[], of: number | null = null): Promise<number> {
  const { organisationId, workflowId } = workflow;
  const [row] = await db.query<{ id: number }>(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name, is_test_mode, input, given_files)
     VALUES ($1, $2, 1, 'queued', 'api', 'x', false, '{}', $3) RETURNING id`,
    [organisationId, workflowId, JSON.stringify({ ids, of })],
  );
  return row?.id ?? 0;
}

const deleteExecution = (id: number) => db.query('DELETE FROM executions WHERE id = $1', [id]);
/** Everything that waits for its time is due. */
const letTimePass = () => db.query('UPDATE files SET sweep_at = now() WHERE sweep_at IS NOT NULL');
const rowsOf = () =>
  db.query<{ id: string; state: string; size: number }>('SELECT id, state, size FROM files ORDER BY id');
const givenTo = async (executionId: number) =>
  (
    await db.query<{ file_id: string }>('SELECT file_id FROM execution_files WHERE execution_id = $1', [
      executionId,
    ])
  ).map(({ file_id: id }) => id);
const usage = async () => {
  const [row] = await db.query<{ files: number; bytes: number }>(
    'SELECT files, bytes FROM file_usage WHERE organisation_id = $1',
    [workflow.organisationId],
  );
  return row;
};

/** Names of what lies in the store. */
async function stored(): Promise<string[]> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  return names.filter((entry) => entry.isFile()).map(({ name }) => name);
}

describe('a file', () => {
  test('is stored as it was sent, and counted', async () => {
    const { files, upload } = processOf();
    const value = await upload('hello');
    const sha256 = createHash('sha256').update('hello').digest('hex');
    expect(value).toEqual({ $file: expect.any(String), name: 'a.txt', type: 'text/plain', size: 5, sha256 });
    const found = await files.find(workflow.organisationId, value.$file);
    expect(found).toMatchObject({ name: 'a.txt', type: 'text/plain', size: 5, sha256 });
    expect(await usage()).toEqual({ files: 1, bytes: 5 });
  });

  test('that is given up is deleted at once, unless it is of another organisation or an execution uses it', async () => {
    const { files, upload } = processOf();
    const ids = [];
    for (const text of ['one', 'two', 'three']) ids.push((await upload(text)).$file);
    const [one = '', two = '', three = ''] = ids;
    await start([two]);
    await files.discard((await insertWorkflow(db, 'yet another')).organisationId, [three]);
    await files.discard(workflow.organisationId, [one, two]);
    expect((await rowsOf()).map(({ id }) => id).sort()).toEqual([two, three].sort());
    expect((await stored()).sort()).toEqual([two, three].sort());
  });

  test('that could not be deleted at once is left to the sweep', async () => {
    const store = createFolderStore(folder);
    const broken: FileStore = { ...store, delete: () => Promise.reject(new Error('unreachable')) };
    const { files, upload } = processOf({ store: broken });
    const { $file: id } = await upload('hello');
    await expect(files.discard(workflow.organisationId, [id])).rejects.toThrow('unreachable');
    expect(await rowsOf()).toMatchObject([{ id, state: 'deleting' }]);
    await letTimePass();
    await processOf().sweep();
    expect([await rowsOf(), await stored()]).toEqual([[], []]);
  });

  test('of another organisation, or with an id that is none, is not found', async () => {
    const { files, upload } = processOf();
    const { $file: id } = await upload('hello');
    const { organisationId: other } = await insertWorkflow(db, 'another');
    expect(await files.find(other, id)).toBeUndefined();
    expect(await files.find(workflow.organisationId, "x' OR true")).toBeUndefined();
    expect(await files.listUnknown(other, [id])).toEqual([id]);
    expect(await files.listUnknown(workflow.organisationId, [id])).toEqual([]);
  });

  test('that is too large leaves nothing, whether its length is declared or not', async () => {
    const { upload } = processOf({}, { ...SETTINGS, maxBytes: 4 });
    await expect(upload('hello', { declaredBytes: 5 })).rejects.toMatchObject({ code: 'file_too_large' });
    await expect(upload('hello')).rejects.toMatchObject({ code: 'file_too_large' });
    expect([await rowsOf(), await stored()]).toEqual([[], []]);
    expect((await upload('four')).size).toBe(4);
  });

  test('that would exceed the storage of the organisation leaves nothing, also beside others', async () => {
    const { upload } = processOf({}, { ...SETTINGS, organisationBytes: 10 });
    const results = await Promise.allSettled(
      Array.from({ length: 6 }, () => upload('four', { declaredBytes: 4 })),
    );
    const refused = results.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(4);
    for (const each of refused) expect(each).toMatchObject({ reason: { code: 'storage_full' } });
    expect(await usage()).toEqual({ files: 2, bytes: 8 });
    expect(await stored()).toHaveLength(2);
  });

  test('is refused while the disk has too little space', async () => {
    const store = { ...createFolderStore(folder), freeBytes: async () => 100 };
    const { upload } = processOf({ store }, { ...SETTINGS, freeDiskBytes: 97 });
    await expect(upload('hello', { declaredBytes: 5 })).rejects.toMatchObject({ code: 'file_store_full' });
    expect((await upload('abc', { declaredBytes: 3 })).size).toBe(3);
  });

  test('whose writer was given up is not finished', async () => {
    const { files, sweep } = processOf();
    const { organisationId } = workflow;
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('ab');
      await letTimePass();
      await sweep();
      yield Buffer.from('cd');
    }
    const file = { organisationId, executionId: null, name: 'x', type: 'a/b', declaredBytes: null };
    await expect(files.save(file, slow())).rejects.toMatchObject({
      code: expect.stringMatching(/upload_expired|file_missing/),
    });
    await letTimePass();
    await sweep();
    expect([await rowsOf(), await stored()]).toEqual([[], []]);
  });
});

describe('the files of an execution', () => {
  test('are those that its start names, of its organisation', async () => {
    const { upload } = processOf();
    const { $file: id } = await upload('hello');
    const unknown = '00000000-0000-4000-8000-000000000000';
    expect(await givenTo(await start([id, unknown]))).toEqual([id]);
    const former = workflow;
    workflow = await insertWorkflow(db, 'a third');
    expect(await givenTo(await start([id]))).toEqual([]);
    workflow = former;
  });

  test('of a child are only those that its parent has', async () => {
    const { upload } = processOf();
    const [own, other] = [await upload('own'), await upload('other')];
    const parent = await start([own.$file]);
    expect(await givenTo(await start([own.$file, other.$file], parent))).toEqual([own.$file]);
  });

  test('that it wrote itself stay as long as the execution', async () => {
    const { upload, sweep } = processOf();
    const executionId = await start([]);
    const { $file: id } = await upload('hello', { executionId });
    await letTimePass();
    await sweep();
    expect(await stored()).toEqual([id]);
    await deleteExecution(executionId);
    await sweep();
    expect([await rowsOf(), await stored()]).toEqual([[], []]);
    expect(await usage()).toEqual({ files: 0, bytes: 0 });
  });

  test('that was deleted meanwhile go at once', async () => {
    const { upload, sweep } = processOf();
    const { $file: id } = await upload('hello', { executionId: 999_999_999 });
    expect(await givenTo(999_999_999)).toEqual([]);
    await letTimePass();
    await sweep();
    expect(await stored()).not.toContain(id);
  });

  test('stay while another execution refers to them', async () => {
    const { upload, sweep } = processOf();
    const { $file: id } = await upload('hello');
    const [first, second] = [await start([id]), await start([id])];
    await deleteExecution(first);
    await sweep();
    expect(await stored()).toEqual([id]);
    await deleteExecution(second);
    await sweep();
    expect(await stored()).toEqual([]);
  });
});

test('starts that name a file, and sweeps that want to delete it, never both have it', async () => {
  const { upload, sweep } = processOf();
  for (let round = 0; round < 10; round += 1) {
    const { $file: id } = await upload('hello');
    await letTimePass();
    const [executions] = await Promise.all([
      Promise.all(Array.from({ length: 4 }, () => start([id]))),
      sweep(),
      sweep(),
    ]);
    const given = (await Promise.all(executions.map(givenTo))).filter((ids) => ids.length > 0);
    expect(await stored()).toEqual(given.length > 0 ? [id] : []);
    await Promise.all(executions.map(deleteExecution));
    await sweep();
    expect(await stored()).toEqual([]);
  }
});

test('a copy of the database deletes none of the files of the original', async () => {
  const store = createOwnedStore(folder, () => readInstallationId(db));
  const { upload } = processOf({ store });
  const { $file: id } = await upload('hello');
  const copy = await createTestDatabase();
  try {
    await insertWorkflow(copy.db, 'one');
    await copy.db.query(
      `INSERT INTO files (id, organisation_id, state, name, type, size, sha256, sweep_at)
       SELECT $1, id, 'stored', 'a.txt', 'text/plain', 5, sha256('hello'), now() FROM organisations LIMIT 1`,
      [id],
    );
    const ofCopy = createOwnedStore(folder, () => readInstallationId(copy.db));
    expect(await sweepFiles({ db: copy.db, store: ofCopy, log })).toBe(0);
    expect(await copy.db.query('SELECT state FROM files')).toEqual([{ state: 'deleting' }]);
  } finally {
    await copy.drop();
  }
  expect((await stored()).sort()).toEqual([id, 'installation'].sort());
  await letTimePass();
  expect(await processOf({ store }).sweep()).toBe(1);
});

class Killed extends Error {}

/** A process that is killed at its n-th step: before or after a transaction, a part of the bytes, or a deletion. */
function killedAt(step: number): { db: Database; store: FileStore } {
  let left = step;
  const tick = (): void => {
    left -= 1;
    if (left <= 0) throw new Killed();
  };
  const around = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    tick();
    const result = await work();
    tick();
    return result;
  };
  const store = createFolderStore(folder);
  async function* ticking(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      tick();
      yield chunk;
    }
  }
  return {
    db: {
      large: db.large,
      listen: (...args) => db.listen(...args),
      close: () => db.close(),
      query: <Row>(text: string, values?: readonly unknown[]) => around(() => db.query<Row>(text, values)),
      transaction: (work) => around(() => db.transaction(work)),
      forOrganisation: (id, work) => around(() => db.forOrganisation(id, work)),
      readForOrganisation: (id, work) => around(() => db.readForOrganisation(id, work)),
    },
    store: {
      write: (id, source) => around(() => store.write(id, ticking(source))),
      has: (...args) => store.has(...args),
      read: (...args) => store.read(...args),
      delete: (id) => around(() => store.delete(id)),
      freeBytes: () => store.freeBytes(),
    },
  };
}

const STEP = fc.integer({ min: 1, max: 10 });
const DEED = fc.oneof(
  fc.record({
    do: fc.constant('upload' as const),
    killedAt: fc.option(STEP),
    execution: fc.option(fc.nat(5)),
  }),
  fc.record({ do: fc.constant('start' as const), file: fc.nat(5) }),
  fc.record({ do: fc.constant('delete' as const), execution: fc.nat(5) }),
  fc.record({ do: fc.constant('sweep' as const), killedAt: fc.option(STEP) }),
  fc.record({ do: fc.constant('wait' as const) }),
);

test('whenever processes are killed, what is referred to is there, what lies in the store is known, and in the end nothing is left', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(DEED, { minLength: 4, maxLength: 14 }), async (deeds) => {
      const values: FileValue[] = [];
      let executions: number[] = [];
      for (const deed of deeds) {
        const wrap = 'killedAt' in deed && deed.killedAt !== null ? killedAt(deed.killedAt) : {};
        const one = processOf(wrap);
        const unlessKilled = (error: unknown): null => {
          if (!(error instanceof Killed)) throw error;
          return null;
        };
        if (deed.do === 'upload') {
          const executionId = executions[deed.execution ?? -1];
          const more = executionId === undefined ? {} : { executionId };
          const value = await one.upload('hello', more).catch(unlessKilled);
          if (value !== null) values.push(value);
        } else if (deed.do === 'start') {
          const file = values[deed.file % Math.max(1, values.length)];
          if (file !== undefined) executions.push(await start([file.$file]));
        } else if (deed.do === 'delete') {
          const id = executions[deed.execution];
          if (id !== undefined) await deleteExecution(id);
          executions = executions.filter((each) => each !== id);
        } else if (deed.do === 'sweep') await one.sweep().catch(unlessKilled);
        else await letTimePass();
        await expectSound();
      }
      await Promise.all(executions.map(deleteExecution));
      for (let round = 0; round < 3; round += 1) {
        await letTimePass();
        await processOf().sweep();
      }
      expect([await rowsOf(), await stored()]).toEqual([[], []]);
      expect((await usage()) ?? { files: 0, bytes: 0 }).toEqual({ files: 0, bytes: 0 });
    }),
    { numRuns: runs(40), seed: runSeed() },
  );
});

async function expectSound(): Promise<void> {
  const known = new Set((await rowsOf()).map(({ id }) => id));
  for (const name of await stored()) expect(known).toContain(name.replace('.part', ''));
  const referred = await db.query<{ id: string; state: string }>(
    'SELECT f.id, f.state FROM execution_files r JOIN files f ON f.id = r.file_id',
  );
  for (const { id, state } of referred) {
    expect(state).toBe('stored');
    expect(await readFile(join(folder, id.slice(0, 2), id), 'utf8')).toBe('hello');
  }
}
