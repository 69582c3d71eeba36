import type { Queryable } from '@millrace/database/database';
import type { ApiError } from '@millrace/errors/errors';
import { noteRefusal } from '@millrace/service/samples/store';
import type { FastifyRequest } from 'fastify';

const ADDRESS = /^\/api\/v1\/webhooks\/([A-Za-z0-9_-]{43})(?:[/?]|$)/;

/** Tells an editor that is listening for a sample why a call was refused. The caller doesn't wait for it. */
export function reportRefusal(db: Queryable, request: FastifyRequest, refusal: ApiError): void {
  const hash = ADDRESS.exec(request.url)?.[1];
  if (hash === undefined || !isAboutTheCall(refusal)) return;
  const { status, code, explanation, errors } = refusal;
  noteRefusal(db, hash, { status, code, message: errors?.[0]?.message ?? explanation }).catch(
    (error: unknown) =>
      request.log.debug({ err: error }, 'could not report a refused call to whoever is listening'),
  );
}

const FULL: ReadonlySet<string> = new Set(['queue_full', 'storage_full', 'rate_queue_full']);

/** Not about addresses that don't exist, nor about load: then each statement counts. */
function isAboutTheCall({ status, code }: ApiError): boolean {
  return FULL.has(code) || (status < 500 && status !== 404 && status !== 429);
}
