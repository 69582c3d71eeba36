import { ROLES, type Role, SCOPES, type Scope } from '@millrace/admin-api';
import { ApiError } from '@millrace/errors/errors';
import { type Message, message } from '@millrace/messages';

/** Role names for people. */
export const ROLE_MESSAGES = {
  viewer: message('identity.role_viewer'),
  editor: message('identity.role_editor'),
  org_admin: message('identity.role_org_admin'),
  system_admin: message('identity.role_system_admin'),
} as const satisfies { readonly [R in Role]: Message };

/** 403 for anyone without the required role. */
export function insufficientRole(needed: Role, own: Role): ApiError {
  return new ApiError(
    'insufficient_role',
    message('identity.role_required', { needed: ROLE_MESSAGES[needed], own: ROLE_MESSAGES[own] }),
  );
}

/**
 * On whose authority a key currently works: its issuing member's current role, `removed` if that member has left, `operator`
 * if it was issued on the command line and has no role behind it.
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

/** A key's scopes limited to what its issuer currently allows. */
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
