import type { RequestOrigin } from '@millrace/identity/audit/store';
import type { StartOrigin } from '@millrace/runtime/start-row';
import type { RecordedBy } from '@millrace/service/workflows/record';
import type { FastifyRequest } from 'fastify';
import { principalOf } from './context.ts';
import { traceparentOf } from './tracing.ts';

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
  return startOrigin(request, principalOf(request).apiKeyId);
}

/** Who starts something by a request, and from where. @param apiKeyId null if no key does */
export function startOrigin(request: FastifyRequest, apiKeyId: number | null = null): StartOrigin {
  return { apiKeyId, sourceIp: request.ip, traceparent: traceparentOf(request) };
}
