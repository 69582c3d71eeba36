import type { AuditActorKind } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';

/** An entry with the names of those it involves, if they still exist. */
export interface AuditRow {
  readonly id: number;
  readonly occurred_at: Date;
  readonly action: string;
  readonly actor: AuditActorKind;
  readonly user_email: string | null;
  readonly api_key_id: number | null;
  readonly api_key_name: string | null;
  readonly api_key_key_id: string | null;
  readonly api_key_last_four: string | null;
  readonly member_id: number | null;
  readonly member_email: string | null;
  readonly source_ip: string | null;
  readonly request_id: string | null;
  /** How often it happened; more than once only if repetitions share an entry. */
  readonly repeats: number;
  /** Null if each occurrence has its own entry. */
  readonly last_occurred_at: Date | null;
  /** JSON text. */
  readonly details: string;
}

export interface AuditFilters {
  readonly action: string | null;
  readonly actor: AuditActorKind | null;
  /** Part of the address or name of whoever did it. */
  readonly who: string | null;
  /** Part of the name or address of its target, or its id as `#12`. */
  readonly about: string | null;
  readonly from: Date | null;
  /** Exclusive. */
  readonly to: Date | null;
  /** Part of the source address. */
  readonly ip: string | null;
}

/**
 * Entries below an id, latest first. Time bounds are first turned into id bounds, allowing a minute because ids are assigned
 * slightly before or after the time is taken, and a day for entries that continued after they started.
 */
export async function listAuditBelow(
  db: Queryable,
  organisationId: number,
  filters: AuditFilters,
  belowId: number | null,
  limit: number,
): Promise<AuditRow[]> {
  return db.query<AuditRow>(
    `SELECT a.id, a.occurred_at, a.action, a.actor, u.email AS user_email,
       k.id AS api_key_id, k.name AS api_key_name, k.key_id AS api_key_key_id,
       k.last_four AS api_key_last_four, a.repeats, a.last_occurred_at,
       m.id AS member_id, m.email AS member_email, a.source_ip, a.request_id, a.details
     FROM audit_log a
     LEFT JOIN users u ON u.id = a.user_id
     LEFT JOIN api_keys k ON k.id = a.api_key_id
     LEFT JOIN members m ON m.id = a.member_id
     WHERE a.organisation_id = $1 AND ($2::bigint IS NULL OR a.id < $2)
       AND ($3::text IS NULL OR a.action = $3)
       AND ($4::text IS NULL OR a.actor = $4)
       AND ($5::text IS NULL OR position(lower($5) IN lower(CASE a.actor
         WHEN 'user' THEN u.email WHEN 'member' THEN m.email
         WHEN 'api_key' THEN concat(k.name, ' mr_', k.key_id, ' ', k.last_four) ELSE '' END)) > 0)
       AND ($6::timestamptz IS NULL OR (coalesce(a.last_occurred_at, a.occurred_at) >= $6 AND a.id >= (
         SELECT id FROM audit_log WHERE organisation_id = $1
           AND occurred_at >= $6::timestamptz - interval '1 day 1 minute'
         ORDER BY occurred_at LIMIT 1)))
       AND ($7::timestamptz IS NULL OR (a.occurred_at < $7 AND a.id <= (
         SELECT id FROM audit_log WHERE organisation_id = $1 AND occurred_at < $7::timestamptz + interval '1 minute'
         ORDER BY occurred_at DESC LIMIT 1)))
       AND ($8::text IS NULL OR position($8 IN concat_ws(' ', a.source_ip, a.details ->> 'source_ips')) > 0)
       AND ($9::text IS NULL OR position(lower($9) IN lower(concat_ws(' ', a.details ->> 'name', a.details ->> 'email',
         CASE WHEN a.actor <> 'api_key' THEN concat(k.name, ' mr_', k.key_id, ' ', k.last_four) END,
         CASE WHEN a.actor NOT IN ('member', 'user') OR m.email <> u.email THEN m.email END,
         '#' || (a.details ->> 'workflow_id'), '#' || (a.details ->> 'execution_id')))) > 0)
     ORDER BY a.id DESC LIMIT $10`,
    [
      organisationId,
      belowId,
      filters.action,
      filters.actor,
      filters.who,
      filters.from,
      filters.to,
      filters.ip,
      filters.about,
      limit,
    ],
  );
}

/** The actions in the log; walks the index from one to the next, so a long log costs no more. */
export async function listAuditActions(db: Queryable, organisationId: number): Promise<string[]> {
  const rows = await db.query<{ action: string }>(
    `WITH RECURSIVE found (action) AS (
       (SELECT action FROM audit_log WHERE organisation_id = $1 ORDER BY action LIMIT 1)
       UNION ALL
       SELECT n.action FROM found f CROSS JOIN LATERAL (
         SELECT action FROM audit_log WHERE organisation_id = $1 AND action > f.action ORDER BY action LIMIT 1) n
     )
     SELECT action FROM found`,
    [organisationId],
  );
  return rows.map((row) => row.action);
}
