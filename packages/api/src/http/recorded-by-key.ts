import type { FastifyRequest } from 'fastify';
import type { RecordedBy } from '@millrace/service/workflows/record';
import { originOf } from './origin.ts';
import { principalOf } from './context.ts';

/** The key of a request to the public API. */
export function recordedByKey(request: FastifyRequest): RecordedBy {
  const { organisationId, apiKeyId } = principalOf(request);
  return { organisationId, by: { actor: 'api_key', apiKeyId }, ...originOf(request) };
}
