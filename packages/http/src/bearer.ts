/** The content of a request's Authorization header. */
export type BearerHeader =
  | { readonly kind: 'absent' }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'token'; readonly token: string };

// A key has 65 characters; much longer values aren't parsed.
const MAX_HEADER_LENGTH = 256;
const FORM = /^bearer (\S+)$/i;

/**
 * Reads the bearer token of a request (RFC 6750, 2.1). A key in the query string or in the body is ignored.
 * @param rawHeaders alternating names and values, as Node provides them: two Authorization headers are malformed, rather than one of them
 * being chosen
 */
export function readBearer(rawHeaders: readonly string[]): BearerHeader {
  let header: string | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() !== 'authorization') continue;
    if (header !== undefined) return { kind: 'malformed' };
    header = rawHeaders[index + 1] ?? '';
  }
  if (header === undefined) return { kind: 'absent' };
  if (header.length > MAX_HEADER_LENGTH) return { kind: 'malformed' };
  const token = FORM.exec(header)?.[1];
  return token === undefined ? { kind: 'malformed' } : { kind: 'token', token };
}
