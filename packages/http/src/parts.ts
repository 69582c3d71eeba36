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

export interface PartLimits {
  readonly parts: number;
  readonly files: number;
  /** Of the names and texts of all fields together. */
  readonly fieldBytes: number;
}

const MAX_NAME_BYTES = 1_000;

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
  keep: (file: ArrivingFile) => Promise<Kept>,
): Promise<Parts<Kept>> {
  const parser = createParser(headers, limits);
  const parts: [string, string | Kept | null][] = [];
  const streams: Readable[] = [];
  let room = limits.fieldBytes;
  let keeping: Promise<void> = Promise.resolve();
  const refused = Promise.withResolvers<never>();
  const refuse = (error: unknown): void => refused.reject(error);
  refused.promise.catch(() => {});
  parser.on('field', (name, value, isNameCut, isValueCut) => {
    room -= Buffer.byteLength(name) + Buffer.byteLength(value);
    if (isNameCut) refuse(broken(limits));
    else if (isValueCut || room < 0)
      refuse(new ApiError('body_too_large', message('api.body_too_large', { bytes: limits.fieldBytes })));
    else parts.push([name, value]);
  });
  parser.on('file', (field, stream, name, _encoding, type) => {
    // Whoever reads it learns of its end by the parser's.
    stream.on('error', () => {});
    streams.push(stream);
    const part: [string, Kept | null] = [field, null];
    parts.push(part);
    keeping = keeping.then(async () => {
      part[1] = await keepPart(stream, name, type, keep);
    });
    keeping.catch(refuse);
  });
  parser.once('filesLimit', () =>
    refuse(new ApiError('invalid_body', message('api.too_many_files', { max: limits.files }))),
  );
  parser.once('partsLimit', () => refuse(broken(limits)));
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

/** @returns null for what browsers send where nobody chose a file */
async function keepPart<Kept>(
  stream: Readable,
  name: string,
  type: string,
  keep: (file: ArrivingFile) => Promise<Kept>,
): Promise<Kept | null> {
  const chunks = stream.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Uint8Array>;
  const first = await chunks.next();
  if (first.done === true && name === '') return null;
  async function* source(): AsyncGenerator<Uint8Array> {
    if (first.done === true) return;
    yield first.value;
    yield* chunks;
  }
  return keep({ name: fileName(name), type: mediaType(type), declaredBytes: null, source: source() });
}

/** @throws ApiError `invalid_body` for headers that name no boundary */
function createParser(headers: IncomingHttpHeaders, limits: PartLimits): Busboy {
  try {
    return new Busboy({
      headers: headers as BusboyHeaders,
      isPartAFile: (_field, _type, name) => name !== undefined,
      limits: {
        parts: limits.parts,
        files: limits.files,
        fields: limits.parts,
        fieldSize: limits.fieldBytes,
        fieldNameSize: MAX_NAME_BYTES,
      },
    });
  } catch (cause) {
    throw broken(limits, cause);
  }
}

function broken({ parts: max }: PartLimits, cause?: unknown): ApiError {
  return new ApiError('invalid_body', message('api.multipart_invalid', { max }), { cause });
}
