import { createHash, randomBytes } from 'node:crypto';
import type { CredentialOf, HttpRequest } from '@millrace/engine';

/** A challenge that can be met (RFC 7616, 3.3). */
interface Challenge {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | undefined;
  /** As the server wrote it; undefined is MD5. */
  readonly algorithm: string | undefined;
  readonly hash: 'md5' | 'sha256';
  readonly isSession: boolean;
  readonly hasQop: boolean;
}

const HASHES: { readonly [algorithm: string]: Challenge['hash'] } = { md5: 'md5', 'sha-256': 'sha256' };
const PARAMETER = /([a-z]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi;

/**
 * The Authorization header for a server's challenge.
 * @param challenges WWW-Authenticate of its 401; several are joined by commas, the one it prefers first
 * @returns undefined if none of them can be met
 */
export function digestHeader(
  { username, password }: Pick<CredentialOf<'digest'>, 'username' | 'password'>,
  { method, url }: Pick<HttpRequest, 'method' | 'url'>,
  challenges: string,
  clientNonce = randomBytes(16).toString('hex'),
): string | undefined {
  const challenge = readChallenges(challenges)[0];
  if (challenge === undefined) return undefined;
  const { realm, nonce, opaque, algorithm, hash, isSession, hasQop } = challenge;
  const digest = (...parts: string[]) => createHash(hash).update(parts.join(':'), 'utf8').digest('hex');
  const { pathname, search } = new URL(url);
  const uri = `${pathname}${search}`;
  const account = digest(username, realm, password);
  const secret = isSession ? digest(account, nonce, clientNonce) : account;
  const target = digest(method, uri);
  const count = '00000001';
  const response = hasQop
    ? digest(secret, nonce, count, clientNonce, 'auth', target)
    : digest(secret, nonce, target);
  const parameters = [
    `username=${quoted(username)}`,
    `realm=${quoted(realm)}`,
    `nonce=${quoted(nonce)}`,
    `uri=${quoted(uri)}`,
    `response="${response}"`,
    ...(algorithm === undefined ? [] : [`algorithm=${algorithm}`]),
    ...(opaque === undefined ? [] : [`opaque=${quoted(opaque)}`]),
    ...(hasQop ? ['qop=auth', `nc=${count}`] : []),
    ...(hasQop || isSession ? [`cnonce="${clientNonce}"`] : []),
  ];
  return `Digest ${parameters.join(', ')}`;
}

function readChallenges(text: string): Challenge[] {
  return text
    .split(/(?:^|,)\s*(?=[A-Za-z][A-Za-z0-9-]*\s+[a-z]+\s*=)/i)
    .filter((part) => /^digest\s/i.test(part.trim()))
    .flatMap((part) => readChallenge(part.trim().slice('digest'.length)));
}

/** None if its algorithm or its protection isn't supported. */
function readChallenge(text: string): Challenge[] {
  const given = new Map(
    [...text.matchAll(PARAMETER)].map(([, name = '', quotedValue, token]) => [
      name.toLowerCase(),
      quotedValue?.replaceAll(/\\(.)/g, '$1') ?? token ?? '',
    ]),
  );
  const algorithm = given.get('algorithm');
  const [, name = 'md5', session] = /^(.*?)(-sess)?$/i.exec(algorithm?.toLowerCase() ?? 'md5') ?? [];
  const hash = HASHES[name];
  const [realm, nonce] = [given.get('realm'), given.get('nonce')];
  const qop = given.get('qop');
  const hasQop = qop?.split(',').some((each) => each.trim().toLowerCase() === 'auth') ?? false;
  if (hash === undefined || realm === undefined || nonce === undefined || (qop !== undefined && !hasQop)) {
    return [];
  }
  const opaque = given.get('opaque');
  return [{ realm, nonce, opaque, algorithm, hash, isSession: session !== undefined, hasQop }];
}

/** Headers carry bytes; these are the bytes of UTF-8. */
function quoted(text: string): string {
  const escaped = text.replaceAll(/["\\]/g, '\\$&');
  return `"${Buffer.from(escaped, 'utf8').toString('latin1')}"`;
}
