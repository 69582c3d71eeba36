import type { FastifyRequest } from 'fastify';
import type { RequestOrigin } from '@millrace/identity/audit/origin';

export function originOf(request: FastifyRequest): RequestOrigin {
  return { sourceIp: request.ip, requestId: request.id };
}
