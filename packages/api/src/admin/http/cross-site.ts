import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { FastifyRequest } from 'fastify';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses requests that another site makes a signed-in browser send (CSRF). Sec-Fetch-Site names the origin of a request, but over http
 * browsers only send it to this machine; without it they send Origin with every change. That is `null` for pages with an opaque origin (a
 * sandboxed frame, a file), which the page's own calls never send.
 * @param publicUrl where the admin area is served
 * @throws ApiError `cross_site_request`
 */
export function refuseCrossSite(request: FastifyRequest, publicUrl: string): void {
  const { 'sec-fetch-site': site, origin, host } = request.headers;
  const isRead = READS.has(request.method);
  if (site !== undefined) {
    // `none`: typed or opened from a bookmark, so it can only be a read.
    if (site === 'same-origin' || (site === 'none' && isRead)) return;
    throw refused();
  }
  if (origin === undefined) {
    // Every browser sends one of them with a change; other programs carry no session cookie.
    if (isRead) return;
    throw refused();
  }
  const own = new URL(publicUrl);
  if (origin === own.origin || isOriginOf(origin, host, own.protocol === 'https:')) return;
  throw refused();
}

/**
 * Whether a page comes from the host and port it calls, even if the address bar's name isn't the configured one. The service can't see
 * whether a proxy in front of it uses https; where https is required, a page over http is another site.
 */
function isOriginOf(origin: string, host: string | undefined, isSecure: boolean): boolean {
  const scheme = /^https?:(?=\/\/)/.exec(origin)?.[0];
  if (host === undefined || scheme === undefined || (isSecure && scheme !== 'https:')) return false;
  const address = `${scheme}//${host}`;
  // Parsed as a URL, so that case and the default port make no difference and only a host with an optional port passes.
  return URL.canParse(address) && /^[^/?#@\\]+$/.test(host) && new URL(address).origin === origin;
}

function refused(): ApiError {
  return new ApiError('cross_site_request', message('api.admin_cross_site'));
}
