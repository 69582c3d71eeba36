import { HttpClientError, type HttpRequest } from '@millrace/engine';
import { message } from '@millrace/messages';
import type { TargetPolicy } from './target-policy.ts';

/** One request of an exchange; redirects derive the next one from it. */
export interface Hop {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: HttpRequest['body'];
}

const REDIRECTS = [301, 302, 303, 307, 308];
/** The only headers forwarded to another origin. Any other could be a credential, which only the author's own host may get. */
const PORTABLE_HEADERS = ['accept', 'accept-language', 'user-agent'];
const BODY_HEADERS = ['content-type', 'content-language', 'content-encoding', 'content-location'];

/** Where a response redirects to; undefined when it isn't a redirect. */
export function redirectLocation(status: number, location: string | undefined): string | undefined {
  return REDIRECTS.includes(status) ? location : undefined;
}

/**
 * The request after a redirect, as in browsers: 303, and 301 or 302 after POST, continue as GET without body. To another origin only GET
 * and HEAD without a body are followed, without anything that could be a credential; other requests are refused, because the author never meant that host
 * to have the body.
 * @throws HttpClientError
 */
export function followRedirect(hop: Hop, status: number, location: string, policy: TargetPolicy): Hop {
  const parsed = URL.parse(location, hop.url.href);
  if (parsed === null) {
    throw new HttpClientError('invalid_url', message('egress.redirect_unreadable', { host: hop.url.host }));
  }
  const url = policy.checkUrl(parsed);
  url.hash = '';
  const turnsIntoGet = (status === 303 && hop.method !== 'HEAD') || (status <= 302 && hop.method === 'POST');
  const method = turnsIntoGet ? 'GET' : hop.method;
  const body = turnsIntoGet ? undefined : hop.body;
  const isSameOrigin = url.origin === hop.url.origin;
  if (!isSameOrigin && ((method !== 'GET' && method !== 'HEAD') || body !== undefined)) {
    throw new HttpClientError(
      'target_not_allowed',
      message('egress.redirect_elsewhere', { host: hop.url.host, method, target: url.host }),
    );
  }
  const kept = [...hop.headers].filter(
    ([name]) =>
      (isSameOrigin || PORTABLE_HEADERS.includes(name)) && !(turnsIntoGet && BODY_HEADERS.includes(name)),
  );
  return { method, url, headers: new Map(kept), body };
}
