import type { IncomingHttpHeaders } from 'node:http';
import { type Message, message } from '@millrace/messages';

/** A header that was sent once and isn't empty. */
export function headerOf(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Any text that decodes to the same bytes is that signature, but no characters may be left over or missing. */
export function decode(text: string, encoding: 'hex' | 'base64'): Buffer | null {
  if (encoding === 'hex') return /^(?:[0-9a-f]{2})+$/i.test(text) ? Buffer.from(text, 'hex') : null;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length > 0 && bytes.toString('base64') === text ? bytes : null;
}

/** In seconds, this would be thousands of years from now, so larger numbers are milliseconds. */
const MILLISECONDS_FROM = 100_000_000_000;

/** Epoch seconds. */
export function readTimestamp(text: string): number | null {
  if (!/^\d{1,15}$/.test(text)) return null;
  const number = Number(text);
  return number >= MILLISECONDS_FROM ? number / 1_000 : number;
}

/** The only signature in a header, after a prefix; a message if there is none. */
export function readSignature(
  headers: IncomingHttpHeaders,
  { header, prefix = '', encoding }: { header: string; prefix?: string; encoding: 'hex' | 'base64' },
): Buffer | Message {
  const text = headerOf(headers, header);
  if (text === null) return missing(header);
  const signature = text.startsWith(prefix) ? decode(text.slice(prefix.length), encoding) : null;
  return signature ?? malformed(header);
}

/** A time in a header, as it was signed and in epoch seconds; a message if there is none. */
export function readTime(
  headers: IncomingHttpHeaders,
  header: string,
  parse: (text: string) => number | null = readTimestamp,
): { readonly time: string; readonly timestampS: number } | Message {
  const time = headerOf(headers, header);
  if (time === null) return missing(header);
  const timestampS = parse(time);
  return timestampS === null ? malformed(header) : { time, timestampS };
}

export function missing(header: string): Message {
  return message('service.signature_header_missing', { header });
}

export function malformed(header: string): Message {
  return message('service.signature_header_malformed', { header });
}
