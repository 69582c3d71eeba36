import type { Queryable } from '@millrace/database/database';
import { originOf } from '@millrace/http/origin';
import { auditUser } from '@millrace/identity/users/audit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { beginSession } from '../http/session.ts';
import type { Devices } from './devices.ts';

export type SignInMethod = 'password' | 'single_sign_on' | 'set_up' | 'invitation';

/**
 * Signs in a user who has been authenticated: creates the session and its audit entry, and marks the browser as known.
 * @param check called in the transaction; throws if the proof is no longer valid
 */
export async function enter(
  { db, config }: Pick<AppDeps, 'db' | 'config'>,
  devices: Devices,
  request: FastifyRequest,
  reply: FastifyReply,
  user: { readonly id: number; readonly email: string },
  method: SignInMethod,
  check: (tx: Queryable) => Promise<void> = async () => {},
): Promise<void> {
  await db.transaction(async (tx) => {
    await check(tx);
    await beginSession(tx, config, request, reply, user.id);
    const details = { method };
    await auditUser(tx, user, { action: 'user.signed_in', ...originOf(request), details });
  });
  await devices.remember(request, reply, user.id);
}
