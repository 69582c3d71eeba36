import type { ClaimRoom } from './data-budget.ts';

/** Without a limit. */
export const ROOM_FOR_ALL: ClaimRoom = {
  smallBytes: Number.MAX_SAFE_INTEGER,
  freeBytes: Number.MAX_SAFE_INTEGER,
  organisationBytes: Number.MAX_SAFE_INTEGER,
  held: new Map(),
  isIdle: true,
};

/** How much data an execution has: its input and records, as JSON. For executions from before inputs were counted, only its records. */
export const DATA_BYTES = 'greatest(kept_bytes, stored_bytes)';

/** Parts of a claim's WITH: what the organisations hold, and the room that is left. The values of {@link roomValues} start at this parameter. */
export function roomFrom(first: number): string {
  return `data_held AS (
       SELECT * FROM unnest($${first}::bigint[], $${first + 1}::bigint[]) AS d (organisation_id, data_bytes)
     ), room AS (
       SELECT $${first + 2}::bigint AS small_bytes, $${first + 3}::bigint AS free_bytes,
         $${first + 4}::bigint AS organisation_bytes, $${first + 5}::boolean AS is_idle
     )`;
}

/** Whether the organisation's share allows candidate `j`. An organisation that holds nothing may have a single large one. */
const FITS_ORGANISATION = `(r.is_idle OR d.data_bytes IS NULL OR d.data_bytes + j.bytes <= r.organisation_bytes)`;

/** Of candidates `j` with `bytes` and `turn`, their organisation's `d` and the room `r`. */
export const WEIGHED = `j.bytes > r.small_bytes AS is_large, ${FITS_ORGANISATION} AS fits_organisation,
         row_number() OVER (PARTITION BY j.bytes > r.small_bytes, ${FITS_ORGANISATION} ORDER BY j.turn) AS place_of_size,
         r.is_idle OR j.bytes <= r.free_bytes AS has_room`;

/** Whether one with {@link WEIGHED} may be claimed: of the large ones only the first, which no other overtakes while it waits for room. */
export const HAS_ROOM = '(NOT is_large OR (fits_organisation AND place_of_size = 1 AND has_room))';

export function roomValues(room: ClaimRoom): readonly unknown[] {
  const { held, smallBytes, freeBytes, organisationBytes, isIdle } = room;
  return [[...held.keys()], [...held.values()], smallBytes, freeBytes, organisationBytes, isIdle];
}
