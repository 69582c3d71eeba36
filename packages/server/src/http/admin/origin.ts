import type { FastifyRequest } from 'fastify';

/** Where a change came from, for the audit log. */
export interface RequestOrigin {
  readonly sourceIp: string;
  readonly requestId: string;
}

export function originOf(request: FastifyRequest): RequestOrigin {
  return { sourceIp: request.ip, requestId: request.id };
}
