import { isAtLeast, type Role } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { Membership } from '../sessions/session.ts';
import { ROLE_MESSAGES } from '../values/roles.ts';
import { findOtherAdmins, lockRoles } from './pages.ts';
import type { MemberRow } from './store.ts';

/** @throws ApiError `insufficient_role` if the role is above that of whoever grants or revokes it */
export function refuseAboveOwn(by: Membership, role: Role): void {
  if (isAtLeast(by.role, role)) return;
  throw new ApiError(
    'insufficient_role',
    message('identity.role_above_own', { role: ROLE_MESSAGES[role], own: ROLE_MESSAGES[by.role] }),
  );
}

/**
 * Refuses to remove the last possible administrator of the organisation or the service.
 * @param after the member's new role; null for none
 * @throws ApiError `last_admin`
 */
export async function refuseLastAdmin(tx: Queryable, before: MemberRow, after: Role | null): Promise<void> {
  const loses = (role: Role): boolean =>
    isAtLeast(before.role, role) && (after === null || !isAtLeast(after, role));
  if (!loses('org_admin') && !loses('system_admin')) return;
  await lockRoles(tx);
  const others = await findOtherAdmins(tx, before.organisation_id, before.id);
  if (loses('org_admin') && !others.of_organisation) {
    throw new ApiError('last_admin', message('identity.last_org_admin'));
  }
  if (loses('system_admin') && !others.of_service) {
    throw new ApiError('last_admin', message('identity.last_system_admin'));
  }
}
