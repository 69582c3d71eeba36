import type { Role } from '@millrace/admin-api';
import type { Database, Queryable } from '@millrace/database/database';
import { joinTransaction } from '@millrace/database/join-transaction';
import { ApiError, notFound } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import { lockAddress } from '../addresses/proof.ts';
import { type AuditActor, insertAudit } from '../audit/store.ts';
import { endInvitationsFor } from '../invitations/ending.ts';
import { lockRoles } from '../members/pages.ts';
import { removeMember } from '../members/store.ts';
import { emptyAccount, hasOtherSystemAdmin, listMembershipsOf, lockAccount } from './removal-store.ts';

/** Who was removed, and from how many organisations. */
export interface RemovedAccount {
  readonly email: string;
  readonly memberships: number;
}

/**
 * Removes a user from the service: the account, all sessions and memberships, open invitations for the address, and
 * everything that was theirs alone. API keys issued for them lose their rights. What they did stays on record under their
 * address.
 * @throws ApiError `not_found`; `last_admin` for the last possible system administrator
 */
export async function removeAccount(db: Database, id: number, by: AuditActor): Promise<RemovedAccount> {
  return db.transaction(async (tx) => {
    await lockRoles(tx);
    const account = await lockAccount(tx, id);
    if (account === undefined) throw notFound('account');
    const { email, name } = account;
    await lockAddress(tx, email);
    const memberships = await listMembershipsOf(tx, email);
    await refuseLast(tx, email, memberships);
    const joined = joinTransaction(db, tx);
    for (const { organisation_id: organisationId, member_id: memberId } of memberships) {
      await removeMember(joined, organisationId, email, by);
      const details = { email, name };
      await insertAudit(tx, { organisationId, action: 'user.removed', by, memberId, details });
    }
    await endInvitationsFor(tx, email, by);
    await emptyAccount(tx, id);
    return { email, memberships: memberships.length };
  });
}

async function refuseLast(
  tx: Queryable,
  email: string,
  memberships: readonly { readonly role: Role }[],
): Promise<void> {
  if (!memberships.some(({ role }) => role === 'system_admin')) return;
  if (await hasOtherSystemAdmin(tx, email)) return;
  throw new ApiError('last_admin', message('identity.last_system_admin'));
}
