import type { CredentialOf } from '@millrace/engine';
import { SignJWT } from 'jose';
import { readPrivateKey } from './pem.ts';

/** A JWT made for one request, or for one exchange of tokens. */
export async function signJwt(
  credential: Pick<
    CredentialOf<'jwt'>,
    'algorithm' | 'key' | 'key_id' | 'issuer' | 'subject' | 'audience' | 'lifetime_s' | 'claims'
  >,
  nowMs: number,
): Promise<string> {
  const {
    algorithm,
    key,
    key_id: keyId,
    issuer,
    subject,
    audience,
    lifetime_s: lifetimeS,
    claims,
  } = credential;
  const now = Math.floor(nowMs / 1000);
  const extra = claims === null ? {} : (JSON.parse(claims) as { readonly [name: string]: unknown });
  const token = new SignJWT({
    ...extra,
    ...(issuer === null ? {} : { iss: issuer }),
    ...(subject === null ? {} : { sub: subject }),
    ...(audience === null ? {} : { aud: audience }),
    iat: now,
    exp: now + lifetimeS,
  }).setProtectedHeader({ alg: algorithm, typ: 'JWT', ...(keyId === null ? {} : { kid: keyId }) });
  return token.sign(algorithm.startsWith('HS') ? Buffer.from(key, 'utf8') : readPrivateKey(key));
}
