import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import { ApiError } from '@millrace/errors/errors';
import { fileName, mediaType } from '@millrace/files/names';
import { message } from '@millrace/messages';

/** A file while it arrives. */
export interface ArrivingFile {
  readonly name: string;
  readonly type: string;
  /** As its sender says; null if it doesn't. */
  readonly declaredBytes: number | null;
  readonly source: AsyncIterable<Uint8Array>;
}

/** Takes a file that arrives in a field. What it leaves of the file is dropped. @returns what stands for it */
export type KeepPart<Kept> = (file: ArrivingFile, field: string) => Promise<Kept>;

export interface PartLimits {
  readonly parts: number;
  /** Chosen ones. */
  readonly files: number;
  /** Of the names and texts of all fields together; null if texts aren't wanted, of whatever size. */
  readonly fieldBytes: number | null;
  /** Whether bytes that have no file name are a file, too. */
  readonly takesUnnamed?: boolean;
}

/** The fields of a form in their order: texts, what was made of files, and null where nobody chose one. */
export type Parts<Kept> = readonly (readonly [name: string, value: string | Kept | null])[];

/**
 * Reads multipart/form-data while it arrives: a file is passed on as it comes, one after the other.
 * @throws ApiError `invalid_body`, `body_too_large`; what `keep` throws. What is left of the body is then dropped.
 */
export async function readParts<Kept>(
  body: Readable,
  headers: IncomingHttpHeaders,
  limits: PartLimits,
  keep: KeepPart<Kept>,
): Promise<Parts<Kept>> {
  const parser = createParser(headers, limits);
  const parts: [string, string | Kept | null][] = [];
  const streams: Readable[] = [];
  let room = limits.fieldBytes ?? Number.POSITIVE_INFINITY;
  let seen = 0;
  let files = 0;
  let isRefused = false;
  let keeping: Promise<void> = Promise.resolve();
  const refused = Promise.withResolvers<never>();
  const refuse = (error: unknown): void => {
    isRefused = true;
    refused.reject(error);
  };
  refused.promise.catch(() => {});
  /** The parser's own limit isn't used: it throws where nobody catches it if the body then breaks off. */
  function countPart(): void {
    seen += 1;
    if (seen > limits.parts) refuse(broken(limits));
  }
  function countFile(): void {
    files += 1;
    if (files > limits.files)
      throw new ApiError('invalid_body', message('api.too_many_files', { max: limits.files }));
  }
  // Undefined where the sender has left it out.
  parser.on('field', (given: string | undefined, value, _isNameCut, isValueCut) => {
    countPart();
    if (isRefused || limits.fieldBytes === null) return;
    const name = unescapeName(given ?? '');
    room -= Buffer.byteLength(name) + Buffer.byteLength(value);
    if (isValueCut || room < 0)
      refuse(new ApiError('body_too_large', message('api.body_too_large', { bytes: limits.fieldBytes })));
    else parts.push([name, value]);
  });
  parser.on('file', (given: string | undefined, stream, escaped: string | undefined, _encoding, type) => {
    // Whoever reads it learns of its end by the parser's.
    stream.on('error', () => {});
    countPart();
    if (isRefused) {
      stream.resume();
      return;
    }
    streams.push(stream);
    const field = unescapeName(given ?? '');
    const name = unescapeName(escaped ?? '');
    const part: [string, Kept | null] = [field, null];
    parts.push(part);
    keeping = keeping.then(async () => {
      const chunks = stream.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Uint8Array>;
      const first = await chunks.next();
      // What browsers send where nobody chose a file.
      if (first.done === true && name === '') return;
      countFile();
      const about = { name: fileName(name), type: mediaType(type), declaredBytes: null };
      part[1] = await keep({ ...about, source: resumed(first, chunks) }, field);
      await chunks.return?.();
      stream.resume();
    });
    keeping.catch(refuse);
  });
  const cut = () => {
    if (!body.readableEnded) parser.destroy(new Error('the connection ended'));
  };
  body.once('error', cut);
  body.once('close', cut);
  try {
    const parsed = finished(body.pipe(parser)).catch((cause: unknown) => {
      throw broken(limits, cause);
    });
    await Promise.race([parsed, refused.promise]);
    await keeping;
    return parts;
  } catch (error) {
    for (const stream of streams) stream.destroy(new Error('the form is refused'));
    // What is being stored is taken back before anybody learns of the refusal.
    await keeping.catch(() => {});
    throw error;
  } finally {
    body.off('error', cut);
    body.off('close', cut);
    body.unpipe(parser);
    body.resume();
  }
}

/** A body that is a file itself. A failure leaves the connection open, so that the sender gets its response. */
export function bodyAsFile(body: Readable, headers: IncomingHttpHeaders, givenName?: string): ArrivingFile {
  const length = headers['content-length'];
  return {
    name: fileName(givenName),
    type: mediaType(headers['content-type']),
    declaredBytes: length === undefined ? null : Number(length),
    source: whole(body),
  };
}

/** @throws ApiError `invalid_body` if the connection ends before */
async function* whole(body: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* body.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  } catch (cause) {
    throw new ApiError('invalid_body', message('api.upload_cut'), { cause });
  }
}

/** What is read already, and the rest. */
async function* resumed(
  first: IteratorResult<Uint8Array>,
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (first.done === true) return;
  yield first.value;
  yield* rest;
}

const ESCAPED: { readonly [code: string]: string } = { '%0A': '\n', '%0D': '\r', '%22': '"' };

/** Senders escape these three and nothing else (HTML, 4.10.21.8). */
function unescapeName(name: string): string {
  return name.replace(/%(?:0A|0D|22)/gi, (code) => ESCAPED[code.toUpperCase()] ?? code);
}

/** @throws ApiError `invalid_body` for headers that name no boundary */
function createParser(headers: IncomingHttpHeaders, limits: PartLimits): Busboy {
  const { fieldBytes, takesUnnamed = false } = limits;
  try {
    return new Busboy({
      headers: headers as BusboyHeaders,
      isPartAFile: (_field, type, name) =>
        name !== undefined || (takesUnnamed && type === 'application/octet-stream'),
      // A file whose turn hasn't come holds no more than the piece of the body that it came with.
      fileHwm: 1,
      limits: { fieldSize: fieldBytes ?? 0 },
    });
  } catch (cause) {
    throw broken(limits, cause);
  }
}

function broken({ parts: max }: PartLimits, cause?: unknown): ApiError {
  return new ApiError('invalid_body', message('api.multipart_invalid', { max }), { cause });
}
