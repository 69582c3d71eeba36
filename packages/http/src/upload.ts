import type { Readable } from 'node:stream';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isMultipart, typeOf } from './media-type.ts';
import { type ArrivingFile, bodyAsFile, type PartLimits, readParts } from './parts.ts';

/** The part that is the file; others are ignored. */
const PART = 'file';
const LIMITS: PartLimits = { parts: 1_000, files: 1_000, fieldBytes: null, takesUnnamed: true };

/** Takes every body of the scope as a stream, whatever its type: it is a file. */
export function addFileBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
}

/**
 * Reads the request's file: its body, or a part of multipart/form-data.
 * @param givenName of a body; the part has its own
 * @throws ApiError `invalid_body`, even if the file has been kept; what `keep` throws
 */
export async function readUpload<Kept>(
  request: FastifyRequest,
  givenName: string | undefined,
  keep: (file: ArrivingFile) => Promise<Kept>,
): Promise<Kept> {
  const body = request.body as Readable | undefined;
  if (body === undefined) throw withoutFile();
  const { headers } = request;
  if (isMultipart(typeOf(headers['content-type']))) {
    const kept: Kept[] = [];
    await readParts(body, headers, LIMITS, async (file, field) => {
      if (field !== PART) return;
      if (kept.length > 0) throw new ApiError('invalid_body', message('api.one_file_only'));
      kept.push(await keep(file));
    });
    const [only] = kept;
    if (only === undefined) throw withoutFile();
    return only;
  }
  return keep(bodyAsFile(body, headers, givenName));
}

function withoutFile(): ApiError {
  return new ApiError('invalid_body', message('api.file_without_content'));
}
