import { randomBytes, randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import type { FileStore } from '../src/file-store.ts';

async function* inChunks(...chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

/** What every store for the bytes of files does. */
export function describeStore(name: string, makeStore: () => FileStore | Promise<FileStore>): void {
  describe(name, () => {
    let store: FileStore;
    beforeAll(async () => {
      store = await makeStore();
    });

    const read = async (...args: Parameters<FileStore['read']>) => buffer(await store.read(...args));

    test('returns the bytes it was given, and ranges of them', async () => {
      const id = randomUUID();
      const [first, second] = [randomBytes(200_000), randomBytes(3)];
      await store.write(id, inChunks(first, second));
      const whole = Buffer.concat([first, second]);
      expect((await read(id, whole.length)).equals(whole)).toBe(true);
      expect(await read(id, whole.length, { start: 199_999, end: 200_001 })).toEqual(
        whole.subarray(199_999, 200_002),
      );
      expect(await read(id, whole.length, { start: 0, end: 0 })).toEqual(whole.subarray(0, 1));
    });

    test('stores an empty file', async () => {
      const id = randomUUID();
      await store.write(id, inChunks());
      expect(await read(id, 0)).toHaveLength(0);
    });

    test('has nothing before all of it is written, and nothing if the source fails', async () => {
      const id = randomUUID();
      const broken = async function* (): AsyncGenerator<Uint8Array> {
        yield Buffer.from('abc');
        await expect(store.read(id, 3)).rejects.toMatchObject({ code: 'file_missing' });
        throw new Error('the source failed');
      };
      await expect(store.write(id, broken())).rejects.toThrow('the source failed');
      await expect(store.read(id, 3)).rejects.toMatchObject({ code: 'file_missing' });
      await store.delete(id);
    });

    test('says whether it has a file of a size', async () => {
      const id = randomUUID();
      expect(await store.has(id, 3)).toBe(false);
      await store.write(id, inChunks(Buffer.from('abc')));
      expect([await store.has(id, 3), await store.has(id, 4)]).toEqual([true, false]);
    });

    test('refuses to return a file of another size', async () => {
      const id = randomUUID();
      await store.write(id, inChunks(Buffer.from('abc')));
      await expect(store.read(id, 4)).rejects.toMatchObject({ code: 'file_missing' });
    });

    test('deletes a file, also twice, and one that was never there', async () => {
      const id = randomUUID();
      await store.write(id, inChunks(Buffer.from('abc')));
      await store.delete(id);
      await store.delete(id);
      await store.delete(randomUUID());
      await expect(store.read(id, 3)).rejects.toMatchObject({ code: 'file_missing' });
    });

    test('takes nothing but ids of files', async () => {
      await expect(async () => store.write('../../etc/passwd', inChunks())).rejects.toThrow(
        'not the id of a file',
      );
      await expect(async () => store.read('..', 1)).rejects.toThrow('not the id of a file');
    });
  });
}
