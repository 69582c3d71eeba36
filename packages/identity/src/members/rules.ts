import { isAtLeast, ROLE_NAMES, type Role } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { ApiError } from '@millrace/errors/errors';
import type { Membership } from '../sessions/session.ts';
import { findOtherAdmins, lockRoles } from './pages.ts';
import type { MemberRow } from './store.ts';

/** @throws ApiError `insufficient_role` when the role is above that of who wants to give or take it */
export function refuseAboveOwn(by: Membership, role: Role): void {
  if (isAtLeast(by.role, role)) return;
  throw new ApiError(
    'insufficient_role',
    `Your role is ${ROLE_NAMES[by.role]}; only ${ROLE_NAMES[role]} may give or take ${ROLE_NAMES[role]}.`,
  );
}

/**
 * Refuses to take a role from the last who could administer the organisation or the service.
 * @param after the role the member would have; null: none
 * @throws ApiError `last_admin`
 */
export async function refuseLastAdmin(tx: Queryable, before: MemberRow, after: Role | null): Promise<void> {
  const loses = (role: Role): boolean =>
    isAtLeast(before.role, role) && (after === null || !isAtLeast(after, role));
  if (!loses('org_admin') && !loses('system_admin')) return;
  await lockRoles(tx);
  const others = await findOtherAdmins(tx, before.organisation_id, before.id);
  if (loses('org_admin') && !others.of_organisation) {
    throw new ApiError(
      'last_admin',
      `Nobody else could administer the organisation. Give another member the role ${ROLE_NAMES.org_admin} first.`,
    );
  }
  if (loses('system_admin') && !others.of_service) {
    throw new ApiError(
      'last_admin',
      `Nobody else could administer the service. Give somebody with an account the role ${ROLE_NAMES.system_admin} first.`,
    );
  }
}
