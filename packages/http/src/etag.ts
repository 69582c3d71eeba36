import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { FastifyRequest } from 'fastify';

/** The entity tag of a version of a workflow's row; the update times of a row never repeat. */
export function entityTag(version: number, updatedAt: Date): string {
  return `"${version}-${updatedAt.getTime()}"`;
}

/**
 * Refuses a change to a resource whose current state the client hasn't seen.
 * @throws ApiError `precondition_failed` if If-Match names other entity tags
 */
export function checkIfMatch(request: FastifyRequest, etag: string): void {
  const header = request.headers['if-match'];
  if (header === undefined || header.trim() === '*' || parseTags(header).includes(etag)) return;
  throw new ApiError('precondition_failed', message('api.precondition_failed'), {
    headers: { etag },
  });
}

/** Whether the client already has this state (If-None-Match): a read then gets 304. */
export function isUnchanged(request: FastifyRequest, etag: string): boolean {
  const header = request.headers['if-none-match'];
  if (header === undefined) return false;
  return header.trim() === '*' || parseTags(header).some((tag) => tag.replace(/^W\//, '') === etag);
}

// If-Match uses strong comparison (RFC 9110, 13.1.1), so a weak tag is kept as is and matches nothing.
function parseTags(header: string): string[] {
  return header.split(',').map((tag) => tag.trim());
}
