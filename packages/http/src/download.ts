import { Readable } from 'node:stream';
import { ApiError } from '@millrace/errors/errors';
import type { ByteRange } from '@millrace/files/file-store';
import type { Files } from '@millrace/files/files';
import type { FileRow } from '@millrace/files/statements';
import { message } from '@millrace/messages';
import { create as contentDisposition } from 'content-disposition';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toApiFileError } from './file-errors.ts';

/** Even if it is opened in a tab, nothing in it is run or loaded. */
const SANDBOX = "default-src 'none'; frame-ancestors 'none'; sandbox";

/**
 * Sends a file, or the range of it that the request asks for (RFC 9110, 14). Always to be saved, never to be shown: it may be a page.
 * @throws ApiError `range_not_satisfiable`, `file_store_unavailable`
 */
export async function sendFile(
  files: Files,
  file: FileRow,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const etag = `"${file.sha256}"`;
  const isHead = request.method === 'HEAD';
  const range = isHead ? null : rangeOf(request, file.size, etag);
  const length = range === null ? file.size : range.end - range.start + 1;
  // An empty stream: what HEAD describes needn't be read.
  const content = isHead || length === 0 ? Readable.from([]) : await open(files, file, range);
  reply.headers({
    'accept-ranges': 'bytes',
    'content-disposition': contentDisposition(file.name, { type: 'attachment' }),
    'content-length': String(length),
    'content-security-policy': SANDBOX,
    'content-type': file.type,
    etag,
    ...(range === null ? {} : { 'content-range': `bytes ${range.start}-${range.end}/${file.size}` }),
  });
  return reply.code(range === null ? 200 : 206).send(content);
}

async function open(files: Files, file: FileRow, range: ByteRange | null): Promise<Readable> {
  try {
    return await files.open(file, range ?? undefined);
  } catch (error) {
    throw toApiFileError(error);
  }
}

/** Null: the whole file, also for what isn't one range in bytes. */
function rangeOf({ headers }: FastifyRequest, size: number, etag: string): ByteRange | null {
  const condition = headers['if-range'];
  if (condition !== undefined && condition !== etag) return null;
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.range?.trim() ?? '');
  if (match === null) return null;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return null;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (first !== '' && last !== '' && Number(last) < start) return null;
  if (start >= size || (first === '' && Number(last) === 0)) {
    throw new ApiError('range_not_satisfiable', message('api.range_not_satisfiable', { size }), {
      headers: { 'content-range': `bytes */${size}` },
    });
  }
  return { start, end };
}
