/** Roles in an organisation, from lowest to highest. */
export const ROLES = ['viewer', 'editor', 'org_admin', 'system_admin'] as const;
export type Role = (typeof ROLES)[number];

/** Whether `role` includes the permissions of `wanted`. */
export function isAtLeast(role: Role, wanted: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(wanted);
}
