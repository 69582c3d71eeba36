import type { Queryable } from '@millrace/database/database';
import { remember } from '@millrace/engine';

/** A use of a key that was rotated but still works. */
export interface FormerUse {
  /** `api_keys.id`. */
  readonly id: number;
  readonly sourceIp: string;
}

/** Addresses stored per key: enough to identify which clients still have to switch. */
const MAX_ADDRESSES = 50;
const MINUTE_MS = 60_000;
/** Keys and addresses a process remembers having written; the one written longest ago is forgotten first. */
const MAX_REMEMBERED = 10_000;

/** Decides whether to record a use: the first from its address, or one at least a minute after this process last recorded one. */
export function createFormerUseGate(
  now: () => number = () => performance.now(),
): (use: FormerUse) => boolean {
  const written = new Map<string, number>();
  return ({ id, sourceIp }) => {
    const name = `${id} ${sourceIp}`;
    const last = written.get(name);
    if (last !== undefined && now() - last < MINUTE_MS) return false;
    remember(written, name, now(), MAX_REMEMBERED);
    return true;
  };
}

/** Records where rotated keys were used from. */
export async function recordFormerUses(db: Queryable, uses: readonly FormerUse[]): Promise<void> {
  await db.query(
    `INSERT INTO former_key_uses AS f (api_key_id, source_ip, organisation_id)
     SELECT DISTINCT k.id, u.source_ip, k.organisation_id
     FROM unnest($1::bigint[], $2::text[]) AS u (id, source_ip) JOIN api_keys k ON k.id = u.id
     WHERE (SELECT count(*) FROM former_key_uses o WHERE o.api_key_id = k.id AND o.source_ip <> u.source_ip) < $3
     ORDER BY k.id, u.source_ip
     ON CONFLICT (api_key_id, source_ip) DO UPDATE SET last_used_at = now()`,
    [uses.map(({ id }) => id), uses.map(({ sourceIp }) => sourceIp), MAX_ADDRESSES],
    'record_former_uses',
  );
}

/** Where these keys were used from since they were rotated, latest first. */
export async function listFormerUses(
  db: Queryable,
  ids: readonly number[],
): Promise<{ readonly api_key_id: number; readonly source_ip: string; readonly last_used_at: Date }[]> {
  return db.query(
    `SELECT api_key_id, source_ip, last_used_at FROM former_key_uses
     WHERE api_key_id = ANY ($1::bigint[]) ORDER BY last_used_at DESC, source_ip`,
    [ids],
  );
}
