import { randomBytes, randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { type S3Call, type S3Server, startS3Server } from '@millrace/testing/s3-server';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../src/open-store.ts';
import { ForeignStoreError, ownStore } from '../src/owned-store.ts';
import { S3Client } from '../src/s3-client.ts';
import { bucketMark } from '../src/s3-owner.ts';
import { createS3Store } from '../src/s3-store.ts';
import { describeStore } from './store-contract.ts';

const MIB = 1024 * 1024;
const UNAVAILABLE = { code: 'file_store_unavailable' };

let server: S3Server;
beforeAll(async () => {
  server = await startS3Server();
});
afterAll(() => server.stop());
afterEach(() => {
  server.fault = () => null;
  server.knowsConditions = true;
  server.calls.length = 0;
});

/** Waits between attempts, in milliseconds; nobody waits for them. */
let pauses: number[] = [];
const clientOf = (prefix = 'a b/') => {
  pauses = [];
  return new S3Client({ ...server.settings, prefix }, async (ms) => void pauses.push(ms));
};
const storeOf = (limits = {}) => createS3Store(clientOf(), limits);

async function* inChunks(content: Buffer, size = 64 * 1024): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}
/** Fails requests of a kind so often. */
function failing(times: number, fault: ReturnType<S3Server['fault']>, concerns: (call: S3Call) => boolean) {
  let left = times;
  server.fault = (call) => {
    if (left === 0 || !concerns(call)) return null;
    left -= 1;
    return fault;
  };
}
const methods = () => server.calls.map(({ method, query }) => `${method} ${[...query.keys()].join()}`.trim());

describeStore('a bucket', () => storeOf());
describeStore('a bucket of an installation', () =>
  openStore({ folder: '/nowhere', s3: { ...server.settings, prefix: 'owned/' } }, async () => 'one'),
);

describe('writing', () => {
  test('a small file is one request, under its prefix', async () => {
    const id = randomUUID();
    await storeOf().write(id, inChunks(Buffer.from('abc')));
    expect(methods()).toEqual(['PUT']);
    expect(server.objects.get(`a b/${id}`)?.toString()).toBe('abc');
  });

  test('a large one is put together from parts, none of which is left', async () => {
    const id = randomUUID();
    const content = randomBytes(11 * MIB);
    const store = storeOf();
    await store.write(id, inChunks(content));
    expect(methods()).toEqual([
      'POST uploads',
      ...Array.from({ length: 3 }, () => 'PUT partNumber,uploadId'),
      'POST uploadId',
    ]);
    expect((await buffer(await store.read(id, content.length))).equals(content)).toBe(true);
    expect(server.uploads.size).toBe(0);
  });

  test.each([
    ['500', { status: 500, code: 'InternalError' }],
    ['503', { status: 503, code: 'SlowDown' }],
    ['a connection that ends', 'drop'],
    ['a response that is lost', 'lost'],
  ] as const)('%s of any request is tried again, later each time', async (_what, fault) => {
    const content = randomBytes(6 * MIB);
    for (const kind of ['POST uploads', 'PUT partNumber,uploadId', 'POST uploadId']) {
      const id = randomUUID();
      const store = storeOf();
      failing(3, fault, ({ method, query }) => `${method} ${[...query.keys()].join()}` === kind);
      await store.write(id, inChunks(content));
      expect([kind, server.objects.get(`a b/${id}`)?.equals(content)]).toEqual([kind, true]);
      expect(pauses).toEqual([250, 500, 1_000]);
    }
  });

  test('after four attempts it is unavailable, and the parts are given up', async () => {
    const before = server.uploads.size;
    failing(100, 'drop', ({ query }) => query.has('partNumber'));
    const writing = storeOf().write(randomUUID(), inChunks(randomBytes(6 * MIB)));
    await expect(writing).rejects.toMatchObject(UNAVAILABLE);
    await expect(writing).rejects.not.toThrow(server.settings.bucket);
    expect(methods().filter((method) => method === 'PUT partNumber,uploadId')).toHaveLength(4);
    expect(server.uploads.size).toBe(before);
  });

  test('a refusal is not tried again; the cause names it, and no secret', async () => {
    server.fault = () => ({ status: 403, code: 'AccessDenied' });
    const error = await storeOf()
      .write(randomUUID(), inChunks(Buffer.from('a')))
      .catch((each: Error) => each);
    expect(error).toMatchObject(UNAVAILABLE);
    expect(server.calls).toHaveLength(1);
    const { cause } = error as Error;
    expect(String(cause)).toContain('403 AccessDenied: as the test wants');
    expect(String(cause)).not.toContain(server.settings.secretAccessKey);
  });

  test('a failure in a response with 200 is one', async () => {
    const store = storeOf();
    server.fault = ({ method, query }) =>
      method === 'POST' && query.has('uploadId') ? { status: 200, code: 'InternalError' } : null;
    await expect(store.write(randomUUID(), inChunks(randomBytes(6 * MIB)))).rejects.toMatchObject(
      UNAVAILABLE,
    );
  });

  test('a full bucket says so', async () => {
    server.fault = () => ({ status: 507, code: 'StorageFull' });
    const writing = storeOf().write(randomUUID(), inChunks(Buffer.from('a')));
    await expect(writing).rejects.toMatchObject({ code: 'file_store_full' });
  });

  test('bytes that wait are bounded for all files together, and free again afterwards', async () => {
    const store = storeOf({ waitingBytes: 100 });
    const full = store.write(randomUUID(), inChunks(Buffer.alloc(101), 60));
    await expect(full).rejects.toMatchObject(UNAVAILABLE);
    await store.write(randomUUID(), inChunks(Buffer.alloc(100), 60));
    await store.write(randomUUID(), inChunks(Buffer.alloc(100), 60));
  });

  test('with another secret, the server refuses', async () => {
    const client = new S3Client({ ...server.settings, prefix: '', secretAccessKey: 'another' });
    const error = await createS3Store(client)
      .has(randomUUID(), 1)
      .catch((each: Error) => each);
    expect(String((error as Error).cause)).toContain('403');
  });
});

describe('reading', () => {
  test('a response that breaks off is continued where it ended', async () => {
    const id = randomUUID();
    const content = randomBytes(300_000);
    const store = storeOf();
    await store.write(id, inChunks(content));
    failing(2, 'cut', ({ method }) => method === 'GET');
    const read = await buffer(await store.read(id, content.length, { start: 7, end: 299_990 }));
    expect(read.equals(content.subarray(7, 299_991))).toBe(true);
  });

  test('one that breaks off again and again is unavailable', async () => {
    const id = randomUUID();
    const store = storeOf();
    await store.write(id, inChunks(randomBytes(300_000)));
    failing(100, 'cut', ({ method }) => method === 'GET');
    await expect(buffer(await store.read(id, 300_000))).rejects.toMatchObject(UNAVAILABLE);
  });

  test('a reader that stops frees its connection', async () => {
    const id = randomUUID();
    const store = storeOf();
    await store.write(id, inChunks(randomBytes(MIB)));
    for (let times = 0; times < 100; times += 1) (await store.read(id, MIB)).destroy();
    expect(await store.has(id, MIB)).toBe(true);
  });
});

describe('deleting', () => {
  test('takes along what a killed writer has begun, of this file only', async () => {
    const [id, other] = [randomUUID(), randomUUID()];
    const client = clientOf();
    for (const key of [id, other]) await client.text({ method: 'POST', key, query: { uploads: '' } });
    await createS3Store(client).delete(id);
    const left = [...server.uploads.values()].filter(({ key }) => key.endsWith(id) || key.endsWith(other));
    expect(left.map(({ key }) => key)).toEqual([`a b/${other}`]);
  });

  test('a service that cannot list them has only the file deleted', async () => {
    const id = randomUUID();
    const store = storeOf();
    await store.write(id, inChunks(Buffer.from('abc')));
    server.fault = ({ query }) => (query.has('uploads') ? { status: 501, code: 'NotImplemented' } : null);
    await store.delete(id);
    expect(server.objects.has(`a b/${id}`)).toBe(false);
  });
});

describe('the owner', () => {
  const ownedBy = (id: string, prefix: string, now?: () => number) => {
    const client = clientOf(prefix);
    return ownStore(createS3Store(client), bucketMark(client), async () => id, now);
  };

  test.each([true, false])('of installations, one gets it (conditional writes: %s)', async (knows) => {
    server.knowsConditions = knows;
    const prefix = `race-${knows}/`;
    const claims = Array.from({ length: 8 }, (_, nth) => ownedBy(`installation ${nth}`, prefix).freeBytes());
    const results = await Promise.allSettled(claims);
    const owner = server.objects.get(`${prefix}installation`)?.toString().trim();
    const winner = results[Number(owner?.slice(-1))];
    expect(winner?.status).toBe('fulfilled');
    if (knows) expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('another installation can do nothing there, and is told how to fix it', async () => {
    const id = randomUUID();
    await ownedBy('one', 'shared/').write(id, inChunks(Buffer.from('abc')));
    const other = ownedBy('two', 'shared/');
    await expect(other.requireOwn()).rejects.toThrow(ForeignStoreError);
    await expect(other.requireOwn()).rejects.toThrow('delete the object shared/installation');
    await expect(other.delete(id)).rejects.toMatchObject(UNAVAILABLE);
    await expect(other.read(id, 3)).rejects.toMatchObject(UNAVAILABLE);
  });

  test('the mark is read again after ten seconds, and a bucket whose mark is gone is not used', async () => {
    let now = 0;
    const store = ownedBy('one', 'timed/', () => now);
    const id = randomUUID();
    await store.write(id, inChunks(Buffer.from('abc')));
    server.objects.delete('timed/installation');
    now = 9_999;
    expect(await store.has(id, 3)).toBe(true);
    now = 10_000;
    await expect(store.has(id, 3)).rejects.toMatchObject(UNAVAILABLE);
  });

  test('a bucket that does not exist is unavailable, not free', async () => {
    const client = new S3Client({ ...server.settings, bucket: 'nothing-here', prefix: '' });
    const store = ownStore(createS3Store(client), bucketMark(client), async () => 'one');
    await expect(store.requireOwn()).rejects.toMatchObject(UNAVAILABLE);
  });
});
