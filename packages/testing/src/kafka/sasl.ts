import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

export interface Account {
  readonly username: string;
  readonly password: string;
}

const ITERATIONS = 4_096;

/** The broker's side of a sign-in. Each call takes what the client says. @returns the answer; null refuses */
export function saslServer(mechanism: string, accounts: readonly Account[]) {
  if (mechanism === 'OAUTHBEARER') return bearer(accounts);
  return mechanism === 'PLAIN'
    ? plain(accounts)
    : scram(mechanism === 'SCRAM-SHA-512' ? 'sha512' : 'sha256', accounts);
}

function plain(accounts: readonly Account[]) {
  return (said: Buffer): { answer: Buffer; isDone: boolean } | null => {
    const [, username, password] = said.toString().split('\0');
    const isKnown = accounts.some((each) => each.username === username && each.password === password);
    return isKnown ? { answer: Buffer.alloc(0), isDone: true } : null;
  };
}

/** RFC 7628 from the server's side; the token is an account's password. A refusal is an answer that the client acknowledges. */
function bearer(accounts: readonly Account[]) {
  let isRefused = false;
  return (said: Buffer): { answer: Buffer; isDone: boolean } | null => {
    if (isRefused) return null;
    const [, auth = '', ...others] = said.toString().split('\u0001');
    const token = auth.replace(/^auth=Bearer /, '');
    const extensions = others
      .slice(0, -2)
      .map((each) => `${each}\u0001`)
      .join('');
    const isKnown = accounts.some(({ username, password }) => password === token && extensions === username);
    isRefused = !isKnown;
    const answer = isKnown ? '' : '{"status":"invalid_token"}';
    return { answer: Buffer.from(answer), isDone: isKnown };
  };
}

/** RFC 5802 from the server's side: it keeps a salted password and proves that it does. */
function scram(hash: 'sha256' | 'sha512', accounts: readonly Account[]) {
  const salt = randomBytes(16);
  const sign = (key: Buffer, text: string) => createHmac(hash, key).update(text).digest();
  let first = '';
  let challenge = '';
  let stored: Buffer | null = null;
  return (said: Buffer): { answer: Buffer; isDone: boolean } | null => {
    const text = said.toString();
    if (first === '') {
      first = text.replace(/^n,,/, '');
      const [, name = '', nonce = ''] = /^n=(.*),r=(.*)$/.exec(first) ?? [];
      const account = accounts.find(
        ({ username }) => username === name.replaceAll('=2C', ',').replaceAll('=3D', '='),
      );
      if (account !== undefined) {
        stored = pbkdf2Sync(account.password, salt, ITERATIONS, hash === 'sha256' ? 32 : 64, hash);
      }
      challenge = `r=${nonce}${randomBytes(9).toString('base64')},s=${salt.toString('base64')},i=${ITERATIONS}`;
      return { answer: Buffer.from(challenge), isDone: false };
    }
    const [, bare = '', proof = ''] = /^(.*),p=(.*)$/.exec(text) ?? [];
    if (stored === null) return null;
    const all = `${first},${challenge},${bare}`;
    const clientKey = sign(stored, 'Client Key');
    const signature = sign(createHash(hash).update(clientKey).digest(), all);
    const given = Buffer.from(proof, 'base64').map((byte, index) => byte ^ (signature[index] ?? 0));
    if (!Buffer.from(given).equals(clientKey)) return null;
    const own = sign(sign(stored, 'Server Key'), all).toString('base64');
    return { answer: Buffer.from(`v=${own}`), isDone: true };
  };
}
