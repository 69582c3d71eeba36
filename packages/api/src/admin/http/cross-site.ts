import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { FastifyRequest } from 'fastify';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses what another site makes a signed-in browser send (CSRF). Browsers say in Sec-Fetch-Site where a request
 * comes from, but over http only to this machine; those that do not say it send Origin with everything that changes
 * something. That is `null` for pages that hide where they are (a sandboxed frame, a file); the page's own calls never
 * say it.
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
  const own = new URL(publicUrl);
  if (origin === own.origin || isOriginOf(origin, host, own.protocol === 'https:')) return;
  throw refused();
}

/**
 * A page on the very host and port that it talks to: then the name in the address bar is not the configured one. The
 * service does not see whether a proxy in front of it speaks https; where it must, a page by http is another site.
 */
function isOriginOf(origin: string, host: string | undefined, isSecure: boolean): boolean {
  const scheme = /^https?:(?=\/\/)/.exec(origin)?.[0];
  if (host === undefined || scheme === undefined || (isSecure && scheme !== 'https:')) return false;
  const address = `${scheme}//${host}`;
  // Read as an address, so that capitals and the usual port make no difference, and nothing but a host and a port pass.
  return URL.canParse(address) && /^[^/?#@\\]+$/.test(host) && new URL(address).origin === origin;
}

function refused(): ApiError {
  return new ApiError('cross_site_request', message('api.admin_cross_site'));
}
