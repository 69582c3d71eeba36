import { ROLES, type Role } from '@millrace/admin-api';
import { ApiError } from '@millrace/errors/errors';
import { type Message, message } from '@millrace/messages';

/** What an API key may be allowed to do, as the contract names it. */
export const SCOPES = ['workflows:read', 'workflows:write', 'executions:execute', 'executions:read'] as const;
export type Scope = (typeof SCOPES)[number];

export { ROLES, type Role };

/** What people read of roles. */
export const ROLE_MESSAGES = {
  viewer: message('identity.role_viewer'),
  editor: message('identity.role_editor'),
  org_admin: message('identity.role_org_admin'),
  system_admin: message('identity.role_system_admin'),
} as const satisfies { readonly [R in Role]: Message };

/** 403 for whoever has another role than the one that is needed. */
export function insufficientRole(needed: Role, own: Role): ApiError {
  return new ApiError(
    'insufficient_role',
    message('identity.role_required', { needed: ROLE_MESSAGES[needed], own: ROLE_MESSAGES[own] }),
  );
}

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
