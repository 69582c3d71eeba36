import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../errors.ts';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses what another site makes a signed-in browser send (CSRF). Browsers say in Sec-Fetch-Site where a request
 * comes from; those that do not say it send Origin with everything that changes something.
 * @param publicUrl where the admin area is served
 * @throws ApiError `cross_site_request`
 */
export function refuseCrossSite(request: FastifyRequest, publicUrl: string): void {
  const { 'sec-fetch-site': site, origin, host } = request.headers;
  const isRead = READS.has(request.method);
  if (site !== undefined) {
    // `none`: typed or opened from a bookmark, which can only read.
    if (site === 'same-origin' || (site === 'none' && isRead)) return;
    throw refused();
  }
  if (origin === undefined) {
    // No browser leaves out both with what changes something; other programs carry no cookie of a person.
    if (isRead) return;
    throw refused();
  }
  if (origin === new URL(publicUrl).origin || isOriginOf(origin, host)) return;
  throw refused();
}

/** A page on the host that it talks to: then the name in the address bar is not the configured one. */
function isOriginOf(origin: string, host: string | undefined): boolean {
  return host !== undefined && URL.canParse(origin) && new URL(origin).host === host;
}

function refused(): ApiError {
  return new ApiError('cross_site_request', 'The admin area takes requests from its own pages only.');
}
