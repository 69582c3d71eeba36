import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadOnce } from '@millrace/engine';
import type * as Library from 'pdfjs-dist/legacy/build/pdf.mjs';

/** One block that decoding a file may allocate: what a compressed part of it expands to. */
const MAX_BLOCK_BYTES = 128 * 1024 * 1024;
/** Maps of characters that files with Asian fonts refer to by name. */
const MAPS = fileURLToPath(new URL('../../../../node_modules/pdfjs-dist/cmaps', import.meta.url));

/** A part of a file expands to more than may be. */
export class BlockTooLargeError extends Error {
  override readonly name = 'BlockTooLargeError';
}

/** Reads character maps from our own files; there is nothing else to load. */
export class CharacterMaps {
  async fetch({ kind, filename }: { readonly kind: string; readonly filename: string }): Promise<Uint8Array> {
    if (kind !== 'cMapUrl' || !/^[\w-]+\.bcmap$/.test(filename)) throw new Error(`there is no ${filename}`);
    return new Uint8Array(await readFile(join(MAPS, filename)));
  }
}

/** Loads the library, whose worker runs in this thread. */
export const loadPdfLibrary = loadOnce(load);

async function load(): Promise<typeof Library> {
  // For drawing, which never happens here. Without them, it says on the console that drawing won't work.
  const drawing: { [name: string]: unknown } = globalThis;
  drawing.DOMMatrix ??= class {};
  drawing.Path2D ??= class {};
  const { warn, log } = console;
  console.warn = console.log = () => {};
  try {
    drawing.pdfjsWorker = await import('pdfjs-dist/legacy/build/pdf.worker.mjs');
    return await import('pdfjs-dist/legacy/build/pdf.mjs');
  } finally {
    Object.assign(console, { warn, log });
  }
}

/**
 * Runs work of the library, which decompresses without any limit into blocks that double: one that is too large ends it. They lie outside of the heap, whose limit
 * doesn't count them. Native decompression, which collects small blocks, is kept from it.
 * @throws BlockTooLargeError, whatever the library made of it
 */
export async function withBoundedBlocks<Result>(work: () => Promise<Result>): Promise<Result> {
  const { Uint8Array: Plain, DecompressionStream: native } = globalThis;
  let failure: BlockTooLargeError | null = null;
  const Bounded: typeof Plain = new Proxy(Plain, {
    construct(target, args, newTarget): object {
      const [length] = args as readonly unknown[];
      if (typeof length === 'number' && length > MAX_BLOCK_BYTES) {
        failure = new BlockTooLargeError();
        throw failure;
      }
      return Reflect.construct(target, args, newTarget === Bounded ? target : newTarget) as object;
    },
  });
  Object.assign(globalThis, { Uint8Array: Bounded, DecompressionStream: undefined });
  try {
    const result = await work();
    if (failure !== null) throw failure;
    return result;
  } catch (error) {
    throw failure ?? error;
  } finally {
    Object.assign(globalThis, { Uint8Array: Plain, DecompressionStream: native });
  }
}
