import type { RequestOrigin } from '@millrace/identity/audit/origin';
import type { FastifyRequest } from 'fastify';

export function originOf(request: FastifyRequest): RequestOrigin {
  return { sourceIp: request.ip, requestId: request.id };
}
