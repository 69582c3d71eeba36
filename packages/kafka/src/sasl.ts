import { Scram } from '@millrace/egress/scram';

export type SaslMechanism = 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512' | 'OAUTHBEARER';

/** The broker didn't accept a token. */
export class TokenRefusedError extends Error {
  override readonly name = 'TokenRefusedError';
}

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
 * Signs in (RFC 4616, RFC 5802, RFC 7628).
 * @param ask sends what the client says, and resolves with what the broker answers
 * @throws ScramError, TokenRefusedError, and what `ask` throws
 */
export async function signIn(login: Login, ask: (said: Buffer) => Promise<Buffer>): Promise<void> {
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
  const scram = new Scram({ hash, username, password: password.normalize('NFKC'), peer: 'broker' });
  const tell = async (said: string): Promise<string> => (await ask(Buffer.from(said))).toString('utf8');
  const challenge = await tell(scram.first());
  scram.check(await tell(await scram.proof(challenge)));
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
  throw new TokenRefusedError('the broker did not accept the token');
}
