import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

export type SaslMechanism = 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512' | 'OAUTHBEARER';

/** The broker doesn't know the password either, or isn't what it claims to be. */
export class SaslError extends Error {
  override readonly name = 'SaslError';
}

/** Brokers store at least 4,096; more than this would only keep a thread busy. */
const MIN_ITERATIONS = 4_096;
const MAX_ITERATIONS = 200_000;

export type Login =
  | {
      readonly mechanism: Exclude<SaslMechanism, 'OAUTHBEARER'>;
      readonly username: string;
      readonly password: string;
    }
  | {
      readonly mechanism: 'OAUTHBEARER';
      readonly token: string;
      /** What the broker is told besides. */
      readonly extensions: readonly (readonly [name: string, value: string])[];
    };

/**
 * Signs in (RFC 4616, RFC 5802, RFC 7628). With SCRAM the password never leaves, and the broker must prove that it knows it.
 * @param ask sends what the client says, and resolves with what the broker answers
 * @throws SaslError, and what `ask` throws
 */
export async function signIn(
  login: Login,
  ask: (said: Buffer) => Promise<Buffer>,
  clientNonce = randomBytes(24).toString('base64'),
): Promise<void> {
  if (login.mechanism === 'OAUTHBEARER') {
    await showToken(login, ask);
    return;
  }
  const { mechanism, username, password } = login;
  if (mechanism === 'PLAIN') {
    await ask(Buffer.from(`\0${username}\0${password}`));
    return;
  }
  const hash = mechanism === 'SCRAM-SHA-256' ? 'sha256' : 'sha512';
  const hmac = (key: Buffer, text: string): Buffer => createHmac(hash, key).update(text).digest();
  const bare = `n=${username.replaceAll('=', '=3D').replaceAll(',', '=2C')},r=${clientNonce}`;
  const challenge = (await ask(Buffer.from(`n,,${bare}`))).toString('utf8');
  const { nonce, salt, iterations } = readChallenge(challenge, clientNonce);
  const size = hash === 'sha256' ? 32 : 64;
  const salted = await promisify(pbkdf2)(password.normalize('NFKC'), salt, iterations, size, hash);
  const withoutProof = `c=biws,r=${nonce}`;
  const all = `${bare},${challenge},${withoutProof}`;
  const clientKey = hmac(salted, 'Client Key');
  const signature = hmac(createHash(hash).update(clientKey).digest(), all);
  const proof = Buffer.from(clientKey.map((byte, index) => byte ^ (signature[index] ?? 0)));
  const last = await ask(Buffer.from(`${withoutProof},p=${proof.toString('base64')}`));
  const given = Buffer.from(fieldsOf(last.toString('utf8')).get('v') ?? '', 'base64');
  const wanted = hmac(hmac(salted, 'Server Key'), all);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
    throw new SaslError('the broker could not prove that it knows the password');
  }
}

/** Separates what a client says with OAUTHBEARER. */
const SEPARATOR = '\u0001';

async function showToken(
  { token, extensions }: Extract<Login, { mechanism: 'OAUTHBEARER' }>,
  ask: (said: Buffer) => Promise<Buffer>,
): Promise<void> {
  const more = extensions.map(([name, value]) => `${name}=${value}${SEPARATOR}`).join('');
  const said = `n,,${SEPARATOR}auth=Bearer ${token}${SEPARATOR}${more}${SEPARATOR}`;
  const answer = await ask(Buffer.from(said));
  if (answer.length === 0) return;
  // A refusal is an answer that has to be acknowledged; only then does the broker say that the sign-in has failed.
  await ask(Buffer.from(SEPARATOR));
  throw new SaslError('the broker did not accept the token');
}

function readChallenge(said: string, clientNonce: string) {
  const fields = fieldsOf(said);
  const nonce = fields.get('r') ?? '';
  const salt = Buffer.from(fields.get('s') ?? '', 'base64');
  const iterations = Number(fields.get('i'));
  if (!nonce.startsWith(clientNonce) || nonce === clientNonce || salt.length === 0) {
    throw new SaslError('the broker answered with another nonce');
  }
  if (!(Number.isInteger(iterations) && iterations >= MIN_ITERATIONS && iterations <= MAX_ITERATIONS)) {
    throw new SaslError(`the broker asks for ${fields.get('i') ?? 'no'} iterations`);
  }
  return { nonce, salt, iterations };
}

function fieldsOf(text: string): Map<string, string> {
  return new Map(text.split(',').map((part) => [part.slice(0, 1), part.slice(2)]));
}
