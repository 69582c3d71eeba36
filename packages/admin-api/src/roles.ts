/** Roles in an organisation, from the least to the most. */
export const ROLES = ['viewer', 'editor', 'org_admin', 'system_admin'] as const;
export type Role = (typeof ROLES)[number];

/** Whether who has `role` may do what `wanted` may. */
export function isAtLeast(role: Role, wanted: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(wanted);
}
