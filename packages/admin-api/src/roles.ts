/** Roles in an organisation, from the least to the most. */
export const ROLES = ['viewer', 'editor', 'org_admin', 'system_admin'] as const;
export type Role = (typeof ROLES)[number];

/** What people read of roles, on the page and in what the service says to them. */
export const ROLE_NAMES = {
  viewer: 'Viewer',
  editor: 'Editor',
  org_admin: 'Organisation admin',
  system_admin: 'System admin',
} as const satisfies { readonly [R in Role]: string };

/** Whether who has `role` may do what `wanted` may. */
export function isAtLeast(role: Role, wanted: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(wanted);
}
