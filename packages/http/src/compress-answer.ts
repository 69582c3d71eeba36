import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';

const compress = promisify(gzip);

/** A packet has room for less: compressing it would save nothing. */
const MIN_CHARACTERS = 1_000;
/** What is larger is rare, and would keep one of the few threads for long. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

/**
 * Compresses an answer to a read, outside of the main thread. For what only pages of the same origin get, or what has nothing secret in it: elsewhere, who
 * can put text into an answer would learn from its length what else is in it.
 */
export async function compressAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  if (typeof payload !== 'string' || payload.length < MIN_CHARACTERS) return payload;
  if (payload.length > MAX_CHARACTERS || reply.hasHeader('content-encoding')) return payload;
  const varies = reply.getHeader('vary');
  reply.header('vary', varies === undefined ? 'accept-encoding' : `${String(varies)}, accept-encoding`);
  if (new Negotiator(request.raw).encodings(['gzip']).length === 0) return payload;
  reply.header('content-encoding', 'gzip').removeHeader('content-length');
  return await compress(payload);
}
