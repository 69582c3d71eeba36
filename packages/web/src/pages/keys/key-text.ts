import type { ApiKey, Scope } from '@millrace/admin-api';

/** In display order. */
export const SCOPES = [
  'workflows:read',
  'workflows:write',
  'executions:execute',
  'executions:read',
] as const satisfies readonly Scope[];

type ScopeText =
  `keys.scope.${'workflows_read' | 'workflows_write' | 'executions_execute' | 'executions_read'}`;

export function scopeText(scope: Scope): ScopeText {
  return `keys.scope.${scope.replace(':', '_')}` as ScopeText;
}

/** Refetched after a key has changed: the list and the reminders. */
export const KEY_LISTS = ['GET /orgs/:org/keys', 'GET /orgs/:org/key-reminders'] as const;

/** A key in display form: `mr_AbCdEfGhIjKl_…xY9z`. */
export function shortKey({
  key_id: keyId,
  last_four: lastFour,
}: Pick<ApiKey, 'key_id' | 'last_four'>): string {
  return `mr_${keyId}_…${lastFour}`;
}

/** Placeholder in the command for a key that may start workflows but not list them. */
export const WORKFLOW_ID = 'WORKFLOW_ID';

/** A command that shows that the key works, as far as its scopes allow. */
export function curlFor(apiUrl: string, secret: string, scopes: readonly Scope[]): string {
  const head = `-H 'Authorization: Bearer ${secret}'`;
  const post = (path: string, body: string) =>
    `curl -X POST '${apiUrl}${path}' \\\n  ${head} \\\n  -H 'Content-Type: application/json' \\\n  -d '${body}'`;
  if (scopes.includes('workflows:read')) return `curl '${apiUrl}/workflows?limit=5' \\\n  ${head}`;
  if (scopes.includes('executions:read')) return `curl '${apiUrl}/executions?limit=5' \\\n  ${head}`;
  if (scopes.includes('executions:execute')) {
    return post(`/workflows/${WORKFLOW_ID}/execute`, '{"input_data": {}}');
  }
  return post('/workflows', '{"name": "First workflow", "flow_data": {"nodes": [], "edges": []}}');
}
