import type { Queryable } from '@millrace/database/database';
import { countSlots, DEFAULT_SHARE, type OrganisationShare, type SlotShares } from '@millrace/engine';

/** How a claim shares free slots; see docs/adr/0026-fair-claims.md and 0029-shares-priority-and-concurrency.md. */
export interface ClaimShares extends SlotShares {
  /** The organisation that had the last turn; the next ones come first. 0 begins with the first. */
  readonly afterOrganisation: number;
  /** How many executions the organisation after `afterOrganisation` was given already in the turn that it continues. */
  readonly takenOfTurn: number;
  /** Takes an organisation's oldest executions, regardless of priority. */
  readonly isTurnOfOldest: boolean;
}

/** The shares of those organisations that hold slots or have a share of their own: the first part of a claim's WITH. */
export const HELD = `held AS (
       SELECT * FROM unnest($1::bigint[], $2::integer[], $3::integer[], $4::integer[])
         AS h (organisation_id, slots, weight, cap_percent)
     )`;

/** The turn of an organisation's `nth` execution in this claim; `h` is its row of {@link HELD}, if any. */
export const ROUND = `(nth + CASE WHEN organisation_id = $8::bigint + 1 THEN $9::integer ELSE 0 END + coalesce(h.weight, 1) - 1)
         / coalesce(h.weight, 1)`;

/** How many executions it was given in its last turn; 0 if the turn is over. */
export const TAKEN_OF_TURN = `((nth + CASE WHEN organisation_id = $8::bigint + 1 THEN $9::integer ELSE 0 END)
         % coalesce(h.weight, 1))::integer AS taken_of_turn`;

/** Organisations in the order of their turns. */
export const NEXT_FIRST = 'organisation_id <= $8::bigint, organisation_id';

/** `mayHoldAnother` of the engine for the candidate with this `turn`, which is the `nth` of its organisation. */
export const FITS = `(coalesce(h.slots, 0) + nth - 1) * (100 - $6::integer)
           < coalesce(h.weight, 1) * $6::integer * ($5::integer - (turn - 1))
         AND (coalesce(h.slots, 0) + nth - 1) * 100 < coalesce(h.cap_percent, 100) * $7::integer`;

/** Whether the oldest are taken regardless of priority. */
export const OLDEST_FIRST = '$10::boolean';

/** Order of an organisation's executions. */
export const URGENT_FIRST = 'CASE WHEN $10::boolean THEN 0 ELSE -priority END, id';

/** How many executions organisation `o` could be given if no other were given any. */
export const ALLOWED = `least(
             ceil((coalesce(h.weight, 1) * $6::integer * $5::integer - (100 - $6::integer) * coalesce(h.slots, 0))::numeric
               / (100 - $6::integer + coalesce(h.weight, 1) * $6::integer)),
             ceil(coalesce(h.cap_percent, 100) * $7::integer / 100.0) - coalesce(h.slots, 0))`;

/** The number of organisations that hold slots. */
export const HOLDERS = '(SELECT count(*) FROM held WHERE slots > 0)';

/** The parameters of the constants above. */
export function shareValues(shares: ClaimShares): readonly unknown[] {
  const { held, own = new Map<number, OrganisationShare>() } = shares;
  const ids = [...new Set([...held.keys(), ...own.keys()])];
  const ownOf = (id: number): OrganisationShare => own.get(id) ?? DEFAULT_SHARE;
  return [
    ids,
    ids.map((id) => held.get(id) ?? 0),
    ids.map((id) => ownOf(id).weight),
    ids.map((id) => ownOf(id).capPercent),
    shares.free,
    shares.largestPercent,
    countSlots(shares),
    shares.afterOrganisation,
    shares.takenOfTurn,
    shares.isTurnOfOldest,
  ];
}

/** Organisations with a share other than the default; a paused one has none. */
export async function listOwnShares(db: Queryable): Promise<Map<number, OrganisationShare>> {
  const rows = await db.query<{ id: number; slot_weight: number; slot_cap_percent: number }>(
    `SELECT id, slot_weight, CASE WHEN paused_at IS NULL THEN slot_cap_percent ELSE 0 END AS slot_cap_percent
     FROM organisations WHERE slot_weight <> 1 OR slot_cap_percent <> 100 OR paused_at IS NOT NULL`,
    [],
    'select_own_shares',
  );
  return new Map(rows.map((row) => [row.id, { weight: row.slot_weight, capPercent: row.slot_cap_percent }]));
}
