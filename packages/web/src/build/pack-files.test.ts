import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packFiles } from './pack-files.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-packed-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('each file is compressed beside it, the small and the large, with gzip and with Brotli', async () => {
  const contents = [0, 1, 500, 25_000].map((lines) => 'a line of text\n'.repeat(lines));
  const paths = contents.map((_, index) => join(folder, `${index}.js`));
  for (const [index, path] of paths.entries()) await writeFile(path, contents[index] ?? '');
  await packFiles(paths);
  for (const [index, path] of paths.entries()) {
    expect(gunzipSync(await readFile(`${path}.gz`)).toString()).toBe(contents[index]);
    expect(brotliDecompressSync(await readFile(`${path}.br`)).toString()).toBe(contents[index]);
  }
});

test('one that cannot be written fails the build, once nothing is written any more', async () => {
  const paths = ['first.js', 'blocked.js', 'last.js'].map((name) => join(folder, name));
  for (const path of paths) await writeFile(path, 'text');
  // The largest is the first to be taken, and takes longest.
  const large = join(folder, 'large.js');
  await writeFile(large, 'a line of text\n'.repeat(20_000));
  await mkdir(join(folder, 'blocked.js.gz'));
  await expect(packFiles([...paths, large])).rejects.toThrow('EISDIR');
  expect(brotliDecompressSync(await readFile(`${large}.br`))).toHaveLength(300_000);
});
