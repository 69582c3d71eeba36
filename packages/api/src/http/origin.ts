import type { RequestOrigin } from '@millrace/identity/audit/store';
import type { StartOrigin } from '@millrace/runtime/start-row';
import type { RecordedBy } from '@millrace/service/workflows/record';
import type { FastifyRequest } from 'fastify';
import { principalOf } from './context.ts';

/** Where a request comes from, for the audit log. */
export function originOf(request: FastifyRequest): RequestOrigin {
  return { sourceIp: request.ip, requestId: request.id };
}

/** The key of a request to the public API. */
export function recordedByKey(request: FastifyRequest): RecordedBy {
  const { organisationId, apiKeyId } = principalOf(request);
  return { organisationId, by: { actor: 'api_key', apiKeyId, ...originOf(request) } };
}

/** The key of a request to the public API and its source. */
export function originOfStart(request: FastifyRequest): StartOrigin {
  return { apiKeyId: principalOf(request).apiKeyId, sourceIp: request.ip };
}
