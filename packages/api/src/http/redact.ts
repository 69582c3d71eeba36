const SECRET_SEGMENT = /(\/(?:webhooks|callbacks|approvals)\/)[^/?#]+/gi;
const KEY = /mr_[A-Za-z0-9]{12}_[A-Za-z0-9_-]*/g;
const LONGEST = 512;

/**
 * The path of a URL, fit for logs and error answers: no query string, no webhook hash, no token of a callback or an
 * approval, no API key, and of a very long one only the beginning.
 */
export function redactUrl(url: string): string {
  const end = url.search(/[?#]/);
  const path = end === -1 ? url : url.slice(0, end);
  const clean = path.replace(SECRET_SEGMENT, '$1[redacted]').replace(KEY, '[redacted]');
  return clean.length > LONGEST ? `${clean.slice(0, LONGEST)}...` : clean;
}
