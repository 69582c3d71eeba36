import type { Scope } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { rowSet } from '@millrace/database/row-set';

/** A request whose key lacks the required scope. */
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

/** Maximum addresses named in one entry. */
const MAX_ADDRESSES = 50;

/** Concurrent violations of one key, reported as the first of them. */
interface CountedViolation extends ScopeViolation {
  readonly count: number;
  readonly details: string;
}

const VIOLATIONS = rowSet<CountedViolation>(
  {
    organisation_id: ['bigint', (row) => row.organisationId],
    api_key_id: ['bigint', (row) => row.apiKeyId],
    source_ip: ['text', (row) => row.sourceIp],
    request_id: ['text', (row) => row.requestId],
    details: ['text', (row) => row.details],
    repeats: ['integer', (row) => row.count],
  },
  2,
);

/**
 * Records violations: those of one key on one day (UTC) share an entry, whichever process sees them. It contains the first
 * one, how many there were, from when to when, which scopes were missing and from which addresses they came.
 */
export async function recordScopeViolations(
  db: Queryable,
  violations: readonly ScopeViolation[],
): Promise<void> {
  const groups = [...Map.groupBy(violations, ({ apiKeyId }) => apiKeyId).values()];
  const rows = groups.flatMap((group): CountedViolation[] => {
    const [first] = group;
    if (first === undefined) return [];
    const { method, path, scope } = first;
    const scopes = [...new Set(group.map((each) => each.scope))];
    const sourceIps = [...new Set(group.map((each) => each.sourceIp))].slice(0, MAX_ADDRESSES);
    const details = JSON.stringify({ method, path, scope, scopes, source_ips: sourceIps });
    return [{ ...first, count: group.length, details }];
  });
  // Always in the same order, or two batches with the same keys could deadlock.
  rows.sort((a, b) => a.apiKeyId - b.apiKeyId);
  await db.query(
    `INSERT INTO audit_log AS a (organisation_id, action, actor, api_key_id, source_ip, request_id, details, repeats,
       repeat_key, last_occurred_at)
     SELECT v.organisation_id, 'api_key.scope_violation', 'api_key', v.api_key_id, v.source_ip, v.request_id,
       v.details::json, v.repeats, 'scope_violation ' || v.api_key_id || ' ' || (now() AT TIME ZONE 'UTC')::date, now()
     FROM ${VIOLATIONS.sql} WITH ORDINALITY AS v (${VIOLATIONS.list()}, place)
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
           GROUP BY ip ORDER BY min(place) LIMIT $1) i)))::json`,
    [MAX_ADDRESSES, ...VIOLATIONS.values(rows)],
    'record_scope_violations',
  );
}
