import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** Servers store at least these (RFC 7677). */
const MIN_ITERATIONS = 4_096;
/** More would only keep a thread busy. */
const MAX_ITERATIONS = 200_000;

const HASH_BYTES = { sha1: 20, sha256: 32, sha512: 64 };

/** The other side doesn't know the password either, or isn't what it claims to be. */
export class ScramError extends Error {
  override readonly name = 'ScramError';
}

export interface ScramLogin {
  readonly hash: keyof typeof HASH_BYTES;
  readonly username: string;
  /** Already prepared as the server wants it: normalised, or hashed. */
  readonly password: string;
  /** What errors call the other side. */
  readonly peer: 'server' | 'broker';
}

/** A sign-in by SCRAM (RFC 5802) in two steps: the password never leaves, and the other side must prove that it knows it. */
export class Scram {
  readonly #login: ScramLogin;
  readonly #nonce = randomBytes(24).toString('base64');
  readonly #bare: string;
  #serverSignature: Buffer | null = null;

  constructor(login: ScramLogin) {
    this.#login = login;
    const name = login.username.replaceAll('=', '=3D').replaceAll(',', '=2C');
    this.#bare = `n=${name},r=${this.#nonce}`;
  }

  first(): string {
    return `n,,${this.#bare}`;
  }

  /** @param challenge the other side's first message @throws ScramError */
  async proof(challenge: string): Promise<string> {
    const { hash, password } = this.#login;
    const { nonce, salt, iterations } = this.#read(challenge);
    const hmac = (key: Buffer, text: string): Buffer => createHmac(hash, key).update(text).digest();
    const salted = await promisify(pbkdf2)(password, salt, iterations, HASH_BYTES[hash], hash);
    const clientKey = hmac(salted, 'Client Key');
    const withoutProof = `c=biws,r=${nonce}`;
    const all = `${this.#bare},${challenge},${withoutProof}`;
    const signature = hmac(createHash(hash).update(clientKey).digest(), all);
    this.#serverSignature = hmac(hmac(salted, 'Server Key'), all);
    const proof = Buffer.from(clientKey.map((byte, index) => byte ^ (signature[index] ?? 0)));
    return `${withoutProof},p=${proof.toString('base64')}`;
  }

  /** @param said the other side's last message @throws ScramError */
  check(said: string): void {
    const given = Buffer.from(fieldsOf(said).get('v') ?? '', 'base64');
    const wanted = this.#serverSignature;
    if (wanted === null || given.length !== wanted.length || !timingSafeEqual(given, wanted))
      throw new ScramError(`the ${this.#login.peer} could not prove that it knows the password`);
  }

  #read(challenge: string) {
    const { peer } = this.#login;
    const fields = fieldsOf(challenge);
    const nonce = fields.get('r') ?? '';
    const salt = Buffer.from(fields.get('s') ?? '', 'base64');
    const iterations = Number(fields.get('i'));
    if (!nonce.startsWith(this.#nonce) || nonce === this.#nonce || salt.length === 0)
      throw new ScramError(`the ${peer} answered with another nonce`);
    if (!(Number.isInteger(iterations) && iterations >= MIN_ITERATIONS && iterations <= MAX_ITERATIONS))
      throw new ScramError(`the ${peer} asks for ${fields.get('i') ?? 'no'} iterations`);
    return { nonce, salt, iterations };
  }
}

function fieldsOf(text: string): Map<string, string> {
  return new Map(text.split(',').map((part) => [part.slice(0, 1), part.slice(2)]));
}
