import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** The most iterations a server may ask for: more would only keep a thread busy. */
const MAX_ITERATIONS = 200_000;
const MIN_ITERATIONS = 4_096;

export type Mechanism = 'SCRAM-SHA-256' | 'SCRAM-SHA-1';

/** The server's side doesn't know the password either, or isn't what it claims to be. */
export class ScramError extends Error {}

/** A sign-in by SCRAM (RFC 5802) in two steps: the password never leaves, and the server must prove that it knows it. */
export class Scram {
  readonly #mechanism: Mechanism;
  readonly #username: string;
  readonly #password: string;
  readonly #nonce: string;
  #serverSignature: Buffer | null = null;

  constructor(
    mechanism: Mechanism,
    { username, password }: { readonly username: string; readonly password: string },
    nonce = randomBytes(24).toString('base64'),
  ) {
    this.#mechanism = mechanism;
    this.#username = username.replaceAll('=', '=3D').replaceAll(',', '=2C');
    // MongoDB's older mechanism knows the password only by this digest.
    this.#password =
      mechanism === 'SCRAM-SHA-1'
        ? createHash('md5').update(`${username}:mongo:${password}`).digest('hex')
        : password.normalize('NFKC');
    this.#nonce = nonce;
  }

  first(): string {
    return `n,,${this.#bare()}`;
  }

  /** @param said the server's first message */
  async proof(said: string): Promise<string> {
    const fields = fieldsIn(said);
    const nonce = fields.get('r') ?? '';
    const iterations = Number(fields.get('i'));
    const salt = Buffer.from(fields.get('s') ?? '', 'base64');
    if (!nonce.startsWith(this.#nonce) || nonce === this.#nonce || salt.length === 0) {
      throw new ScramError('the server answered with another nonce');
    }
    if (!(iterations >= MIN_ITERATIONS && iterations <= MAX_ITERATIONS)) {
      throw new ScramError(`the server asks for ${fields.get('i') ?? 'no'} iterations`);
    }
    const hash = this.#mechanism === 'SCRAM-SHA-1' ? 'sha1' : 'sha256';
    const size = hash === 'sha1' ? 20 : 32;
    const hmac = (key: Buffer, text: string): Buffer => createHmac(hash, key).update(text).digest();
    const salted = await promisify(pbkdf2)(this.#password, salt, iterations, size, hash);
    const clientKey = hmac(salted, 'Client Key');
    const bare = `c=biws,r=${nonce}`;
    const all = `${this.#bare()},${said},${bare}`;
    const signature = hmac(createHash(hash).update(clientKey).digest(), all);
    this.#serverSignature = hmac(hmac(salted, 'Server Key'), all);
    const proof = Buffer.from(clientKey.map((byte, index) => byte ^ (signature[index] ?? 0)));
    return `${bare},p=${proof.toString('base64')}`;
  }

  /** @param said the server's last message */
  check(said: string): void {
    const given = Buffer.from(fieldsIn(said).get('v') ?? '', 'base64');
    const wanted = this.#serverSignature;
    if (wanted === null || given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
      throw new ScramError('the server could not prove that it knows the password');
    }
  }

  #bare(): string {
    return `n=${this.#username},r=${this.#nonce}`;
  }
}

function fieldsIn(text: string): Map<string, string> {
  return new Map(text.split(',').map((part) => [part.slice(0, 1), part.slice(2)]));
}
