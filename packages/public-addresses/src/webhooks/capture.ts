import type { Queryable } from '@millrace/database/database';
import type { JsonValue } from '@millrace/engine';
import { captureCall } from '@millrace/service/samples/store';
import type { FastifyRequest } from 'fastify';

/** Names of headers that carry, or may carry, the caller's authentication. */
const SECRET_NAME = /auth|cookie|credential|hmac|key|pass|secret|session|sign|token/;

/** Headers that describe the connection rather than the call. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set(['connection', 'host', 'transfer-encoding']);

/** The headers of a call that everyone with access to the workflow may see. */
export function harmlessHeaders(headers: FastifyRequest['headers']): { readonly [name: string]: string } {
  const shown = Object.entries(headers).filter(
    ([name, value]) => value !== undefined && !SECRET_NAME.test(name) && !OF_THE_CONNECTION.has(name),
  );
  return Object.fromEntries(
    shown.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : String(value)]),
  );
}

/** Stores a webhook call as the sample if an editor is listening. The call has already been accepted and can't fail because of this. */
export async function capture(
  db: Queryable,
  request: FastifyRequest,
  workflow: { readonly id: number; readonly organisationId: number },
  call: { readonly executionId: number; readonly data: JsonValue; readonly isRepeat: boolean },
): Promise<boolean> {
  const { id: workflowId, organisationId } = workflow;
  try {
    return await captureCall(db, {
      organisationId,
      workflowId,
      ...call,
      headers: harmlessHeaders(request.headers),
    });
  } catch (error) {
    request.log.warn({ err: error, workflow_id: workflowId }, 'could not store a call as a sample');
    return false;
  }
}
