import type { Queryable } from '@millrace/database/database';
import type { JsonValue } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import { fingerprintOfRequest } from '@millrace/service/idempotency/fingerprint';
import {
  checkFingerprint,
  findRecord,
  type IdempotencyKey,
  type IdempotentResponse,
  type StoredResponse,
} from '@millrace/service/idempotency/store';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { principalOf } from './context.ts';
import { presentRoute } from './former-ids.ts';

const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;

/**
 * The request's Idempotency-Key, or null if it sends none. Call it once the body is parsed.
 * @throws ApiError `invalid_idempotency_key` (400)
 */
export async function readIdempotencyKey(request: FastifyRequest): Promise<IdempotencyKey | null> {
  const use = readKeyUse(request);
  if (use === null) return null;
  return { ...use, fingerprint: await fingerprintOfRequest(request.body as JsonValue | undefined) };
}

/** The same without the fingerprint, for routes that compute it themselves. */
export function readKeyUse(request: FastifyRequest): Omit<IdempotencyKey, 'fingerprint'> | null {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return null;
  if (typeof header !== 'string' || !VISIBLE_ASCII.test(header)) {
    throw new ApiError('invalid_idempotency_key', message('api.idempotency_key_malformed'));
  }
  const { organisationId, familyId } = principalOf(request);
  return {
    organisationId,
    familyId,
    route: presentRoute(request, `${request.method} ${pathOf(request)}`),
    key: header,
  };
}

/** The request's path, normalised over all its spellings; the router has decoded it, so decoding can't fail. */
function pathOf(request: FastifyRequest): string {
  return decodeURIComponent(request.url.split('?', 1)[0] ?? '');
}

/**
 * A route's `preValidation` hook: a repeated request gets its stored response before its body is validated.
 * @param prepare adds headers that aren't stored with the response
 */
export function replayBeforeValidation(
  db: Queryable,
  prepare: (reply: FastifyReply, response: StoredResponse) => void = () => undefined,
) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const idempotencyKey = request.idempotencyKey;
    const record = idempotencyKey === null ? undefined : await findRecord(db, idempotencyKey);
    if (idempotencyKey === null || record === undefined) return undefined;
    const response = checkFingerprint(idempotencyKey, record);
    prepare(reply, response);
    return sendStoredResponse(reply, { response, replayed: true });
  };
}

/** Sends a stored response; a repeated one is marked with `Idempotent-Replayed: true`. */
export function sendStoredResponse(
  reply: FastifyReply,
  { response, replayed }: IdempotentResponse,
): FastifyReply {
  if (replayed) reply.header('idempotent-replayed', 'true');
  if (response.location !== null) reply.header('location', response.location);
  return reply
    .code(response.status)
    .header('content-type', 'application/json; charset=utf-8')
    .serializer((body: string) => body)
    .send(response.body);
}
