import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import { ApiError } from '@millrace/errors/errors';
import { fileName, mediaType } from '@millrace/files/names';
import { message } from '@millrace/messages';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** A file that is arriving. */
export interface Upload {
  readonly name: string;
  readonly type: string;
  /** Of the file, as its sender says; null if it doesn't. */
  readonly declaredBytes: number | null;
  /** Ends once the whole request has arrived. @throws ApiError if it doesn't */
  readonly source: AsyncIterable<Uint8Array>;
}

const MULTIPART = 'multipart/form-data';
/** The part that is the file; others are ignored. */
const PART = 'file';

/** Takes every body of the scope as a stream, whatever its type: it is a file. */
export function addFileBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
}

/**
 * Begins to read the request's file: its body, or a part of multipart/form-data.
 * @param givenName of a body; the part has its own
 * @throws ApiError `invalid_body`
 */
export async function readUpload(request: FastifyRequest, givenName: string | undefined): Promise<Upload> {
  const body = request.body as Readable | undefined;
  if (body === undefined) throw withoutFile();
  const { headers } = request;
  const type = headers['content-type'];
  if (type?.trim().toLowerCase().startsWith(MULTIPART)) return readPart(body, headers);
  const length = headers['content-length'];
  return {
    name: fileName(givenName),
    type: mediaType(type),
    declaredBytes: length === undefined ? null : Number(length),
    source: whole(body),
  };
}

/**
 * A failure leaves the connection open: the rest of the body is dropped, and the sender gets its response.
 * @throws ApiError `invalid_body` if the connection ends before
 */
async function* whole(body: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* body.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  } catch (cause) {
    throw new ApiError('invalid_body', message('api.upload_cut'), { cause });
  }
}

interface Part {
  readonly name: string | undefined;
  readonly type: string;
  readonly stream: Readable;
}

async function readPart(body: Readable, headers: IncomingHttpHeaders): Promise<Upload> {
  const parser = createParser(headers);
  let isSecond = false;
  let first: Readable | null = null;
  const part = new Promise<Part | null>((resolve) => {
    parser.on('file', (field, stream, name, _encoding, type) => {
      // Whoever reads it learns of its end by the parser's.
      stream.on('error', () => {});
      if (field !== PART || first !== null) {
        isSecond ||= field === PART;
        stream.resume();
        return;
      }
      first = stream;
      resolve({ name, type, stream });
    });
    parser.once('finish', () => resolve(null));
    parser.once('error', () => resolve(null));
  });
  const parsed = finished(parser).catch((cause: unknown) => {
    first?.destroy();
    throw new ApiError('invalid_body', message('api.multipart_broken'), { cause });
  });
  parsed.catch(() => {});
  body.once('error', (error) => parser.destroy(error));
  body.once('close', () => {
    if (!body.readableEnded) parser.destroy(new Error('the connection ended'));
  });
  body.pipe(parser);
  const found = await part;
  if (found === null) {
    await parsed;
    throw withoutFile();
  }
  async function* source(stream: Readable): AsyncGenerator<Uint8Array> {
    try {
      yield* stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
      await parsed;
    } catch (error) {
      await parsed;
      throw error;
    } finally {
      // What is left is dropped, so that the sender gets its response.
      body.unpipe(parser);
      body.resume();
    }
    if (isSecond) throw new ApiError('invalid_body', message('api.one_file_only'));
  }
  return {
    name: fileName(found.name),
    type: mediaType(found.type),
    declaredBytes: null,
    source: source(found.stream),
  };
}

/** @throws ApiError `invalid_body` for headers that name no boundary */
function createParser(headers: IncomingHttpHeaders): Busboy {
  try {
    return new Busboy({
      headers: headers as BusboyHeaders,
      limits: { fields: 20, fieldSize: 64 * 1024, parts: 22, files: 2 },
    });
  } catch (cause) {
    throw new ApiError('invalid_body', message('api.multipart_broken'), { cause });
  }
}

function withoutFile(): ApiError {
  return new ApiError('invalid_body', message('api.file_without_content'));
}
