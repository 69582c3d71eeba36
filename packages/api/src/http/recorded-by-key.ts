import type { RecordedBy } from '@millrace/service/workflows/record';
import type { FastifyRequest } from 'fastify';
import { principalOf } from './context.ts';
import { originOf } from './origin.ts';

/** The key of a request to the public API. */
export function recordedByKey(request: FastifyRequest): RecordedBy {
  const { organisationId, apiKeyId } = principalOf(request);
  return { organisationId, by: { actor: 'api_key', apiKeyId }, ...originOf(request) };
}
