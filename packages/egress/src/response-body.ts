import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { HttpClientError, type ResponseRoom } from '@millrace/engine';
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

/** How a body is read. */
export interface ReadOptions {
  readonly contentEncoding: string | undefined;
  /** As declared in its headers; undefined if it isn't. */
  readonly contentLength: string | undefined;
  readonly maxBytes: number;
  readonly host: string;
  /** Aborts waiting for room. */
  readonly signal: AbortSignal;
  /** Memory for the body; absent: it isn't counted. */
  readonly room: ResponseRoom | undefined;
}

/**
 * Reads a body to its end. Bytes are counted after decompression, as they arrive: a small response that unpacks to gigabytes stops at the
 * limit. Room is reserved for the declared length before it is read, and for anything else as it arrives; without room, nothing more is read.
 * @throws HttpClientError `response_too_large`, `timeout`
 */
export async function readBody(body: Readable, options: ReadOptions): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  let reserved = 0;
  const reserve = async (bytes: number): Promise<void> => {
    if (bytes <= reserved) return;
    const more = bytes - reserved;
    reserved = bytes;
    const waiting = options.room?.take(more, options.signal);
    if (waiting !== undefined) await waiting.catch(() => Promise.reject(noRoom(options)));
  };
  const collect = async (source: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const chunk of source) {
      length += chunk.byteLength;
      if (length > options.maxBytes) throw tooLarge(options.host, options.maxBytes);
      await reserve(length);
      chunks.push(chunk);
    }
  };
  // Its reader waits, and an error meanwhile would have no listener.
  const ignore = (): void => {};
  body.on('error', ignore);
  await reserve(declaredBytes(options));
  const decoder = DECODERS.get(options.contentEncoding?.trim().toLowerCase() ?? '');
  if (decoder === undefined) await collect(body);
  else await decode(body, decoder(), collect);
  return Buffer.concat(chunks, length);
}

/** The same without keeping it: decompressed while it is read. */
export async function* streamBody(
  body: Readable,
  contentEncoding: string | undefined,
): AsyncGenerator<Uint8Array> {
  const decoder = DECODERS.get(contentEncoding?.trim().toLowerCase() ?? '')?.();
  if (decoder === undefined) return yield* body as AsyncIterable<Uint8Array>;
  // Whichever fails first ends the other, and with it the loop of whoever reads.
  const fed = pipeline(body, decoder);
  fed.catch(() => {});
  yield* decoder as AsyncIterable<Uint8Array>;
  await fed;
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

/** A length over the limit isn't reserved: it is refused once that much has arrived. */
function declaredBytes({ contentEncoding, contentLength, maxBytes }: ReadOptions): number {
  const bytes = isDecodable(contentEncoding) ? 0 : Number(contentLength ?? 0);
  return bytes <= maxBytes ? bytes : 0;
}

/** The call ended while it waited: it was aborted, or its time was up. */
function noRoom({ signal, host }: ReadOptions): unknown {
  const { reason } = signal as { reason: unknown };
  const isLate = reason instanceof HttpClientError && reason.code === 'timeout';
  return isLate ? new HttpClientError('timeout', message('egress.no_memory', { host })) : reason;
}

function tooLarge(host: string, maxBytes: number): HttpClientError {
  return new HttpClientError(
    'response_too_large',
    message('egress.response_over_limit', { host, max: maxBytes }),
  );
}
