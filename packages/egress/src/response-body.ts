import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { HttpClientError } from '@millrace/engine';
import { message } from '@millrace/messages';

const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['br', () => createBrotliDecompress()],
]);

/** The encodings {@link readBody} can decode. */
export const ACCEPT_ENCODING = 'gzip, br';

/** Whether a body of this Content-Encoding is decompressed; others are passed through as received. */
export function isDecodable(contentEncoding: string | undefined): boolean {
  return DECODERS.has(contentEncoding?.trim().toLowerCase() ?? '');
}

/**
 * Reads a body to its end. Bytes are counted after decompression, as they arrive: a small response that unpacks to gigabytes stops at the
 * limit.
 * @throws HttpClientError `response_too_large`
 */
export async function readBody(
  body: Readable,
  options: { readonly contentEncoding: string | undefined; readonly maxBytes: number; readonly host: string },
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const collect = async (source: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const chunk of source) {
      length += chunk.byteLength;
      if (length > options.maxBytes) throw tooLarge(options.host, options.maxBytes);
      chunks.push(chunk);
    }
  };
  const decoder = DECODERS.get(options.contentEncoding?.trim().toLowerCase() ?? '');
  if (decoder === undefined) await pipeline(body, collect);
  else await decode(body, decoder(), collect);
  return Buffer.concat(chunks, length);
}

/** Some servers declare an encoding and send nothing at all: that is an empty body, not a corrupt one. */
async function decode(
  body: Readable,
  decoder: Transform,
  collect: (source: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  let received = 0;
  const count = async function* (source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      received += chunk.byteLength;
      yield chunk;
    }
  };
  try {
    await pipeline(body, count, decoder, collect);
  } catch (error) {
    const isEmpty =
      received === 0 && error instanceof Error && 'code' in error && error.code === 'Z_BUF_ERROR';
    if (!isEmpty) throw error;
  }
}

function tooLarge(host: string, maxBytes: number): HttpClientError {
  return new HttpClientError(
    'response_too_large',
    message('egress.response_over_limit', { host, max: maxBytes }),
  );
}
