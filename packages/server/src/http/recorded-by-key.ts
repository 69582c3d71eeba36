import type { FastifyRequest } from 'fastify';
import type { RecordedBy } from '../features/workflows/record.ts';
import { originOf } from './admin/origin.ts';
import { principalOf } from './context.ts';

/** The key of a request to the public API. */
export function recordedByKey(request: FastifyRequest): RecordedBy {
  const { organisationId, apiKeyId } = principalOf(request);
  return { organisationId, by: { actor: 'api_key', apiKeyId }, ...originOf(request) };
}
