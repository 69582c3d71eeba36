import type { FastifyRequest } from 'fastify';
import type { RequestOrigin } from '../../features/audit/origin.ts';

export function originOf(request: FastifyRequest): RequestOrigin {
  return { sourceIp: request.ip, requestId: request.id };
}
