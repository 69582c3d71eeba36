import { readFileSync, writeFileSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { gzipAsync } from '@gfx/zopfli';
import type { PackedInThreads } from './pack-files.ts';

/** Larger ones aren't part of a first view. */
const PACKED_CLOSELY_BYTES = 350_000;

/** With gzip, as small as it gets without trying many times: three in a hundred less than level 9, and browsers read it as fast. */
async function packClosely(content: Buffer): Promise<Uint8Array> {
  if (content.length > PACKED_CLOSELY_BYTES) return gzipSync(content, { level: 9 });
  return await gzipAsync(content, { numiterations: 1 });
}

const { paths, taken } = workerData as PackedInThreads;
for (let path = next(); path !== undefined; path = next()) {
  const content = readFileSync(path);
  writeFileSync(`${path}.gz`, await packClosely(content));
  writeFileSync(`${path}.br`, brotliCompressSync(content));
}

/** The first file that no thread has taken yet. */
function next(): string | undefined {
  return paths[Atomics.add(taken, 0, 1)];
}
