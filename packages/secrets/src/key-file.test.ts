import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createKeyFile, keyFilePath, newKey, readKeyFile, replaceKeyFile } from './key-file.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-keys-'));
  path = keyFilePath(join(folder, 'data'));
});
afterEach(() => rm(folder, { recursive: true }));

const refusal = (text: string) =>
  expect.objectContaining({ code: 'secret_key_file', message: expect.stringContaining(text) });

describe('the key file', () => {
  test('is created for its owner only, with one key, and nothing is left beside it', async () => {
    const [key] = await createKeyFile(path);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readKeyFile(path)).toEqual([key]);
    expect(await readdir(join(folder, 'data'))).toEqual(['secret.key']);
  });

  test('is created once by many at the same time', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => createKeyFile(path)));
    expect(new Set(all.map(([key]) => key?.id)).size).toBe(1);
    expect(await readdir(join(folder, 'data'))).toEqual(['secret.key']);
  });

  test('is never overwritten when it is created', async () => {
    const [first] = await createKeyFile(path);
    expect(await createKeyFile(path)).toEqual([first]);
  });

  test('accepts other keys, in order, and stays private', async () => {
    await createKeyFile(path);
    const keys = [newKey(), newKey()];
    await replaceKeyFile(path, keys);
    expect(await readKeyFile(path)).toEqual(keys);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(folder, 'data'))).toEqual(['secret.key']);
  });

  test("that doesn't exist has no keys", async () => {
    expect(await readKeyFile(path)).toEqual([]);
  });

  test.each([0o640, 0o604, 0o620, 0o666, 0o601])('of mode %o is refused', async (mode) => {
    await createKeyFile(path);
    await chmod(path, mode);
    await expect(readKeyFile(path)).rejects.toEqual(refusal(`chmod 600 ${path}`));
    await expect(createKeyFile(path)).rejects.toEqual(refusal('millrace secrets rotate'));
  });

  test('with an invalid line is refused, without repeating it', async () => {
    const [key] = await createKeyFile(path);
    const text = await readFile(path, 'utf8');
    await writeFile(path, `${text}canary-line\n`);
    await expect(readKeyFile(path)).rejects.toEqual(refusal('not a key'));
    await expect(readKeyFile(path)).rejects.not.toThrow('canary');
    await writeFile(path, text.replaceAll('\n', '\r\n'));
    expect(await readKeyFile(path)).toEqual([key]);
  });
});
