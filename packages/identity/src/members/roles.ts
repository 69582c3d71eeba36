import { ROLES, type Role } from '@millrace/admin-api';

/** What an API key may be allowed to do, as the contract names it. */
export const SCOPES = ['workflows:read', 'workflows:write', 'executions:execute', 'executions:read'] as const;
export type Scope = (typeof SCOPES)[number];

export { ROLES, type Role };

/**
 * On whose authority a key works now: the role its issuing member has at this moment, `removed` when that member
 * has left, `operator` when it was issued on the command line and no role stands behind it.
 */
export type Issuer = Role | 'operator' | 'removed';

const ALLOWED: Readonly<Record<Issuer, readonly Scope[]>> = {
  viewer: ['workflows:read', 'executions:read'],
  editor: SCOPES,
  org_admin: SCOPES,
  system_admin: SCOPES,
  operator: SCOPES,
  removed: [],
};

/** A key's scopes cut to what its issuer allows now. */
export function effectiveScopes(scopes: readonly Scope[], issuer: Issuer): readonly Scope[] {
  return scopes.filter((scope) => ALLOWED[issuer].includes(scope));
}

/** Whether `text` names a role. */
export function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}

/** Whether `text` names a scope. */
export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}
