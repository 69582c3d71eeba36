import { createHash, createHmac, type KeyObject, timingSafeEqual, verify } from 'node:crypto';
import { isMessage, type Message, message } from '@millrace/messages';
import type { SignatureOptions } from '@millrace/triggers';
import { type Claim, readClaim, type SignedCall } from './claims.ts';

/**
 * The result of checking a call. `stale`: its proof is valid, but the time in it is too far from now, so it may be a replayed call.
 * Reasons are safe for the caller: they reveal nothing about the secret.
 */
export type SignatureVerdict =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid'; readonly reason: Message }
  | { readonly kind: 'stale'; readonly reason: Message };

/**
 * Checks who a call is from. Comparisons with secrets take constant time, and all of them are made. `jwt_*` are checked by
 * {@link verifyJwt}.
 *
 * The schemes are those of each service's own reference; their published examples are tests.
 * @param secrets the current one and, while the sender is changing it, the previous one; none for checks by a public key
 * @param nowMs epoch milliseconds
 */
export function verifySignature(
  options: SignatureOptions,
  secrets: readonly string[],
  call: SignedCall,
  nowMs: number,
): SignatureVerdict {
  const claim = readClaim(options, call);
  if (isMessage(claim)) return { kind: 'invalid', reason: claim };
  if (!isProven(claim, options, secrets)) {
    const isToken = claim.kind === 'token';
    return {
      kind: 'invalid',
      reason: message(isToken ? 'service.token_wrong' : 'service.signature_other_secret'),
    };
  }
  const timestampS = claim.kind === 'token' ? null : claim.timestampS;
  if (timestampS === null || Math.abs(nowMs / 1_000 - timestampS) <= options.tolerance_s)
    return { kind: 'valid' };
  return { kind: 'stale', reason: message('service.signature_stale', { seconds: options.tolerance_s }) };
}

function isProven(claim: Claim, options: SignatureOptions, secrets: readonly string[]): boolean {
  switch (claim.kind) {
    case 'hmac': {
      const matches = secrets.flatMap((secret) => {
        const hmac = createHmac(claim.algorithm, keyOf(options, secret));
        for (const part of claim.signed) hmac.update(part);
        const expected = hmac.digest();
        return claim.signatures.map((signature) => isEqual(signature, expected));
      });
      return matches.includes(true);
    }
    case 'token': {
      const matches = secrets.map((secret) => {
        const expected = claim.expected(secret);
        // Every comparison is made, so that the time tells nothing about which of them matched.
        const equal = claim.tokens.map((token) => isEqual(digest(token), digest(expected)));
        return !equal.includes(false);
      });
      return matches.includes(true);
    }
    case 'public_key':
      return isSignedBy(claim.key, claim);
  }
}

function isSignedBy(
  key: KeyObject,
  { hash, signed, signatures }: Extract<Claim, { kind: 'public_key' }>,
): boolean {
  const bytes = Buffer.concat(signed.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  return signatures.some((signature) => verify(hash, bytes, key, signature));
}

/** Has the same length for any text. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function isEqual(signature: Buffer, expected: Buffer): boolean {
  return signature.length === expected.length && timingSafeEqual(signature, expected);
}

/** Keys are the secret's bytes as text, except for Standard Webhooks, which encodes them in base64. */
function keyOf({ preset }: SignatureOptions, secret: string): Buffer {
  if (preset !== 'standard_webhooks') return Buffer.from(secret, 'utf8');
  return Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
}
