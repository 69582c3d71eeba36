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
 * Compresses an answer to a read, outside of the main thread. Only pages of the same origin get here, so nobody else can put text into an answer to
 * learn from its length what else is in it.
 */
export async function compressAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  if (typeof payload !== 'string' || payload.length < MIN_CHARACTERS) return payload;
  if (payload.length > MAX_CHARACTERS || reply.hasHeader('content-encoding')) return payload;
  reply.header('vary', 'accept-encoding');
  if (new Negotiator(request.raw).encodings(['gzip']).length === 0) return payload;
  reply.header('content-encoding', 'gzip').removeHeader('content-length');
  return await compress(payload);
}
