import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Queryable } from '@millrace/database/database';
import { getSecondFactorSince } from '@millrace/identity/users/second-factor-store';
import { createSigningSecret } from '@millrace/secrets/signing-secret';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiSettings } from '../../settings.ts';
import { cookieName, formatCookie, readCookie } from '../http/cookies.ts';

const FORM = /^(\d{1,16})\.([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;
const MAX_AGE_SECONDS = 400 * 24 * 60 * 60;

export type Devices = ReturnType<typeof createDevices>;

/**
 * Browsers in which someone has signed in before. Wrong passwords from elsewhere don't count against them, so guessing can't lock the owner
 * out (OWASP: device cookies). Such a cookie grants no access, and having several from before the second factor was enabled allows no extra
 * guesses of its codes.
 */
export function createDevices(db: Queryable, config: ApiSettings) {
  const name = cookieName(config, 'device');
  const loadSecret = createSigningSecret(db, 'device');
  // Includes the account's second factor: a browser known from before it was enabled has proved less.
  const sign = async (userId: number, text: string): Promise<string> => {
    const since = await getSecondFactorSince(db, userId);
    return createHmac('sha256', await loadSecret())
      .update(since === null ? text : `${text} ${since.toISOString()}`)
      .digest('base64url');
  };

  /** Name of the browser if this user has signed in with it before, else null. */
  async function nameFor(request: FastifyRequest, userId: number): Promise<string | null> {
    const [, user = '', nonce = '', mac = ''] = FORM.exec(readCookie(request, name, FORM) ?? '') ?? [];
    if (user !== String(userId)) return null;
    const expected = Buffer.from(await sign(userId, `${user}.${nonce}`));
    const isOurs = mac.length === expected.length && timingSafeEqual(Buffer.from(mac), expected);
    return isOurs ? nonce : null;
  }

  /** Marks the browser as known. */
  async function remember(request: FastifyRequest, reply: FastifyReply, userId: number): Promise<void> {
    if ((await nameFor(request, userId)) !== null) return;
    const text = `${userId}.${randomBytes(16).toString('base64url')}`;
    const value = `${text}.${await sign(userId, text)}`;
    reply.header('set-cookie', formatCookie(config, name, value, MAX_AGE_SECONDS));
  }

  return { nameFor, remember };
}
