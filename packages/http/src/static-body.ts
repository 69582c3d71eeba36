import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { isUnchanged } from './etag.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** A response that stays the same as long as the process runs, compressed once. */
export interface StaticBody {
  readonly type: string;
  readonly etag: string;
  readonly gzipped: Buffer;
}

/** Keeps the compressed text only: whoever accepts no compression waits for the decompression. */
export async function prepareStaticBody(type: string, text: string): Promise<StaticBody> {
  const digest = createHash('sha256').update(text).digest('base64url');
  // Weak: compressed and not, it is the same for a reader, but not byte by byte.
  return { type, etag: `W/"${digest.slice(0, 22)}"`, gzipped: await compress(text) };
}

/** Sends a prepared body, or 304 if the client has it. */
export async function sendStaticBody(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, etag, gzipped }: StaticBody,
): Promise<FastifyReply> {
  reply.header('etag', etag).header('vary', 'accept-encoding');
  if (isUnchanged(request, etag.replace(/^W\//, ''))) return reply.code(304).send();
  reply.type(type);
  const acceptsGzip = new Negotiator(request.raw).encodings(['gzip']).length > 0;
  if (acceptsGzip) return reply.header('content-encoding', 'gzip').send(gzipped);
  return reply.send(await decompress(gzipped));
}
