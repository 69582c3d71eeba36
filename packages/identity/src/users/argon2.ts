import crypto from 'node:crypto';
import { promisify } from 'node:util';
import { argon2idAsync } from '@noble/hashes/argon2.js';

export interface Argon2Input {
  readonly message: string;
  readonly nonce: Buffer;
  /** Of KiB. */
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
  readonly tagLength: number;
}

/** A turn of the main thread, in milliseconds, for the hash in JavaScript. */
const TURN_MS = 5;

/** Node has it from 24.7 on and runs it in a thread; before, it is slower and takes turns with everything else. */
export const argon2id: (input: Argon2Input) => Promise<Buffer> =
  (crypto.argon2 as typeof crypto.argon2 | undefined) === undefined ? argon2idInJavaScript : argon2idOfNode;

function argon2idOfNode(input: Argon2Input): Promise<Buffer> {
  return promisify(crypto.argon2)('argon2id', input);
}

/** For a Node that has none. */
export async function argon2idInJavaScript(input: Argon2Input): Promise<Buffer> {
  const { message, nonce, memory, passes, parallelism, tagLength } = input;
  const options = { t: passes, m: memory, p: parallelism, dkLen: tagLength, asyncTick: TURN_MS };
  return Buffer.from(await argon2idAsync(message, nonce, options));
}
