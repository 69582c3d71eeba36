const SECRET_SEGMENT = /(\/(?:webhooks|forms|chat|callbacks|approvals)\/)[^/?#]+/gi;
const KEY = /mr_[A-Za-z0-9]{12}_[A-Za-z0-9_-]*/g;
const LONGEST = 512;

/**
 * The path of a URL, safe for logs and error responses: no query string, hash of a webhook, form or chat, callback or approval token or API key; overlong
 * paths are cut.
 */
export function redactUrl(url: string): string {
  const end = url.search(/[?#]/);
  const path = end === -1 ? url : url.slice(0, end);
  const clean = path.replace(SECRET_SEGMENT, '$1[redacted]').replace(KEY, '[redacted]');
  return clean.length > LONGEST ? `${clean.slice(0, LONGEST)}...` : clean;
}
