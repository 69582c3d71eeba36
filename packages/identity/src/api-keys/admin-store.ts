import type { KeyIssuer, KeyState, Scope } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';

/** A key as listed in the admin area. */
export interface KeyItemRow {
  readonly id: number;
  readonly key_id: string;
  readonly name: string;
  readonly last_four: string;
  readonly state: KeyState;
  readonly scopes: readonly Scope[];
  readonly issuer: KeyIssuer;
  readonly issued_by_email: string | null;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly valid_until: Date | null;
  readonly rotated_at: Date | null;
  readonly successor_id: number | null;
  readonly successor_key_id: string | null;
  readonly successor_last_four: string | null;
  readonly revoked_at: Date | null;
  readonly locked_at: Date | null;
  readonly last_used_at: Date | null;
  readonly last_used_ip: string | null;
  readonly is_used_since_rotation: boolean;
  readonly is_due: boolean;
}

/** An organisation's keys below an id, latest first; ended ones only if requested. */
export async function listKeyItemsBelow(
  db: Queryable,
  organisationId: number,
  wantsEnded: boolean,
  belowId: number | null,
  limit: number,
): Promise<KeyItemRow[]> {
  return selectKeyItems(db, { organisationId, id: null, wantsEnded, belowId, limit });
}

/** One key of an organisation, or undefined. */
export async function findKeyItem(
  db: Queryable,
  organisationId: number,
  id: number,
): Promise<KeyItemRow | undefined> {
  const [row] = await selectKeyItems(db, { organisationId, id, wantsEnded: true, belowId: null, limit: 1 });
  return row;
}

/** The last use is recorded at most once a minute. The issuer may only be known in another organisation, so `db` must see all of them. */
async function selectKeyItems(
  db: Queryable,
  of: {
    readonly organisationId: number;
    readonly id: number | null;
    readonly wantsEnded: boolean;
    readonly belowId: number | null;
    readonly limit: number;
  },
): Promise<KeyItemRow[]> {
  return db.query<KeyItemRow>(
    `SELECT k.id, k.key_id, k.name, k.last_four, k.scopes,
       CASE
         WHEN s.state = 'valid' AND k.rotated_at IS NOT NULL THEN 'rotated'
         WHEN s.state = 'valid' AND k.expires_at <= now() + interval '14 days' THEN 'expiring'
         ELSE s.state END AS state,
       h.issuer, h.email AS issued_by_email, k.created_at, k.expires_at,
       api_key_valid_until(k) AS valid_until, k.rotated_at, k.revoked_at, k.locked_at,
       n.id AS successor_id, n.key_id AS successor_key_id, n.last_four AS successor_last_four,
       k.last_used_at, k.last_used_ip,
       coalesce(k.last_used_at > k.rotated_at, false) AS is_used_since_rotation,
       k.created_at <= now() - interval '90 days' AND k.rotated_at IS NULL
         AND s.state IN ('valid', 'locked') AS is_due
     FROM api_keys k CROSS JOIN LATERAL api_key_holder(k) h
     CROSS JOIN LATERAL (SELECT api_key_state(k) AS state) s
     LEFT JOIN LATERAL (
       SELECT n.id, n.key_id, n.last_four FROM api_keys n
       WHERE k.rotated_at IS NOT NULL AND n.organisation_id = k.organisation_id
         AND n.family_id = k.family_id AND n.id > k.id
       ORDER BY n.id LIMIT 1) n ON true
     WHERE k.organisation_id = $1 AND ($2::bigint IS NULL OR k.id = $2)
       AND ($3::boolean OR s.state IN ('valid', 'locked')) AND ($4::bigint IS NULL OR k.id < $4)
     ORDER BY k.id DESC LIMIT $5`,
    [of.organisationId, of.id, of.wantsEnded, of.belowId, of.limit],
  );
}

/** Working keys that were not rotated and are older than 90 days; oldest first. */
export async function listDueKeys(
  db: Queryable,
  organisationId: number,
  limit: number,
): Promise<{ readonly id: number; readonly name: string; readonly created_at: Date }[]> {
  return db.query(
    `SELECT k.id, k.name, k.created_at FROM api_keys k
     WHERE k.organisation_id = $1 AND k.created_at <= now() - interval '90 days' AND k.rotated_at IS NULL
       AND api_key_state(k) IN ('valid', 'locked')
     ORDER BY k.id LIMIT $2`,
    [organisationId, limit],
  );
}
