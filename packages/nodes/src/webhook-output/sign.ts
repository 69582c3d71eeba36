import { Buffer } from 'node:buffer';

const PREFIX = 'whsec_';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** Parses a Standard Webhooks signing secret, base64 with or without `whsec_`; undefined when it is invalid. */
export function readSecret(text: string): Uint8Array<ArrayBuffer> | undefined {
  const trimmed = text.trim();
  const encoded = trimmed.startsWith(PREFIX) ? trimmed.slice(PREFIX.length) : trimmed;
  if (encoded === '' || !BASE64.test(encoded)) return undefined;
  return new Uint8Array(Buffer.from(encoded, 'base64'));
}

/**
 * The headers that sign a message (Standard Webhooks, "Signature scheme", v1): HMAC-SHA256 over `id.timestamp.body`, once per key, so that
 * a receiver may know the old one or the new one.
 * @param atMs when it is sent; receivers refuse old messages
 */
export async function signatureHeaders(
  message: { readonly id: string; readonly atMs: number; readonly body: string },
  keys: readonly Uint8Array<ArrayBuffer>[],
): Promise<{ 'webhook-id': string; 'webhook-timestamp': string; 'webhook-signature': string }> {
  const timestamp = String(Math.floor(message.atMs / 1000));
  const signed = new TextEncoder().encode(`${message.id}.${timestamp}.${message.body}`);
  const signatures = await Promise.all(keys.map((key) => hmacSha256(key, signed)));
  return {
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.map((signature) => `v1,${signature}`).join(' '),
  };
}

async function hmacSha256(key: Uint8Array<ArrayBuffer>, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const { subtle } = globalThis.crypto;
  const imported = await subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return Buffer.from(await subtle.sign('HMAC', imported, bytes)).toString('base64');
}
