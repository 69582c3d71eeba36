import type { Queryable } from '@millrace/database/database';
import type { Scope } from '../members/roles.ts';

/** A request that its key lacks the scope for. */
export interface ScopeViolation {
  readonly organisationId: number;
  /** `api_keys.id`. */
  readonly apiKeyId: number;
  readonly scope: Scope;
  readonly method: string;
  /** Without a query string and without secrets. */
  readonly path: string;
  readonly sourceIp: string;
  readonly requestId: string;
}

/** Addresses that one entry names. */
const MOST_ADDRESSES = 50;

/**
 * Records violations: those of one key on one day (UTC) are one entry, whichever process sees them. It says what the first
 * one was, how many there were, from when to when, which scopes they lacked and from which addresses they came.
 */
export async function recordScopeViolations(
  db: Queryable,
  violations: readonly ScopeViolation[],
): Promise<void> {
  const groups = [...Map.groupBy(violations, ({ apiKeyId }) => apiKeyId).values()];
  const rows = groups.flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { method, path, scope } = first;
    const scopes = [...new Set(group.map((each) => each.scope))];
    const sourceIps = [...new Set(group.map((each) => each.sourceIp))].slice(0, MOST_ADDRESSES);
    const details = JSON.stringify({ method, path, scope, scopes, source_ips: sourceIps });
    return [{ first, count: group.length, details }];
  });
  // Always in the same order, or two batches over the same keys could wait for each other for ever.
  rows.sort((a, b) => a.first.apiKeyId - b.first.apiKeyId);
  await db.query(
    `INSERT INTO audit_log AS a (organisation_id, action, actor, api_key_id, source_ip, request_id, details, repeats,
       repeat_key, last_occurred_at)
     SELECT v.organisation_id, 'api_key.scope_violation', 'api_key', v.api_key_id, v.source_ip, v.request_id,
       v.details::json, v.repeats, 'scope_violation ' || v.api_key_id || ' ' || (now() AT TIME ZONE 'UTC')::date, now()
     FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::integer[]) WITH ORDINALITY
       AS v (organisation_id, api_key_id, source_ip, request_id, details, repeats, place)
     ORDER BY v.place
     ON CONFLICT (organisation_id, repeat_key) WHERE repeat_key IS NOT NULL DO UPDATE SET
       repeats = a.repeats + EXCLUDED.repeats,
       last_occurred_at = greatest(a.last_occurred_at, EXCLUDED.last_occurred_at),
       details = (a.details::jsonb || jsonb_build_object(
         'scopes', (SELECT jsonb_agg(DISTINCT s.scope) FROM jsonb_array_elements_text(
           (a.details::jsonb -> 'scopes') || (EXCLUDED.details::jsonb -> 'scopes')) AS s (scope)),
         'source_ips', (SELECT jsonb_agg(i.ip ORDER BY i.place) FROM (
           SELECT ip, min(place) AS place FROM jsonb_array_elements_text(
             (a.details::jsonb -> 'source_ips') || (EXCLUDED.details::jsonb -> 'source_ips'))
             WITH ORDINALITY AS e (ip, place)
           GROUP BY ip ORDER BY min(place) LIMIT $7) i)))::json`,
    [
      rows.map(({ first }) => first.organisationId),
      rows.map(({ first }) => first.apiKeyId),
      rows.map(({ first }) => first.sourceIp),
      rows.map(({ first }) => first.requestId),
      rows.map(({ details }) => details),
      rows.map(({ count }) => count),
      MOST_ADDRESSES,
    ],
    'record_scope_violations',
  );
}
