import { randomBytes, timingSafeEqual } from 'node:crypto';
import { unavailable } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import { argon2id } from './argon2.ts';

/** As OWASP's Password Storage Cheat Sheet recommends: 19 MiB, two passes, one lane. Raising them rehashes at the next sign-in. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const PHC =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{16,86})$/;

interface Stored {
  readonly cost: { readonly memory: number; readonly passes: number; readonly parallelism: number };
  readonly salt: Buffer;
  readonly hash: Buffer;
}

/** The stored form of a password: argon2id in PHC format. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await hashWith(COST, salt, password, HASH_BYTES);
  const { memory, passes, parallelism } = COST;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(hash)}`;
}

/** Used if there is no hash, so that an unknown address takes as long as a known one. */
const NOBODY: Stored = { cost: COST, salt: Buffer.alloc(SALT_BYTES), hash: Buffer.alloc(HASH_BYTES) };

/**
 * Whether the password matches the hash. Takes the same time if there is none.
 * @throws ApiError `overloaded` if too many checks are waiting
 */
export async function isPassword(stored: string | null, password: string): Promise<boolean> {
  const { cost, salt, hash } = (stored === null ? null : parse(stored)) ?? NOBODY;
  const equal = timingSafeEqual(await hashWith(cost, salt, password, hash.length), hash);
  return equal && stored !== null;
}

/** Whether it was hashed at a cost other than the current one. */
export function needsRehash(stored: string): boolean {
  const cost = parse(stored)?.cost;
  return cost?.memory !== COST.memory || cost.passes !== COST.passes || cost.parallelism !== COST.parallelism;
}

function parse(stored: string): Stored | null {
  const [, memory, passes, parallelism, salt = '', hash = ''] = PHC.exec(stored) ?? [];
  if (hash === '') return null;
  return {
    cost: { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  };
}

async function hashWith(
  cost: Stored['cost'],
  nonce: Buffer,
  password: string,
  tagLength: number,
): Promise<Buffer> {
  const leave = await enterQueue();
  try {
    return await argon2id({ ...cost, nonce, tagLength, message: normalisePassword(password) });
  } finally {
    leave();
  }
}

/** Makes the same characters typed on different keyboards equal (NIST SP 800-63B, 3.1.1.2). */
export function normalisePassword(password: string): string {
  return password.normalize('NFKC');
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

/** Node runs these in four threads, which DNS look-ups and files need too. */
const AT_ONCE = 2;
/** About ten seconds of waiting. */
const MAX_WAITING = 200;
let inside = 0;
const waiting: (() => void)[] = [];

async function enterQueue(): Promise<() => void> {
  if (inside < AT_ONCE) inside += 1;
  else {
    if (waiting.length >= MAX_WAITING) {
      throw unavailable('overloaded', message('identity.sign_in_crowded'));
    }
    await new Promise<void>((resolve) => waiting.push(resolve));
  }
  return () => {
    const next = waiting.shift();
    if (next === undefined) inside -= 1;
    else next();
  };
}
