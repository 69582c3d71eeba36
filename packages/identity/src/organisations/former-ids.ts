import type { Queryable } from '@millrace/database/database';

/** What is known by its id outside of the database: in URLs, flows and outputs. */
export const KNOWN_KINDS = ['workflows', 'executions', 'credentials'] as const;
export type KnownKind = (typeof KNOWN_KINDS)[number];

/** Ids that an organisation had where it came from, and what is added to them here. None of them is a present id of the organisation. */
export interface FormerIds {
  readonly kind: KnownKind;
  readonly first_id: number;
  readonly last_id: number;
  readonly shift: number;
}

/** The id here of what somebody knows by `id`, which may be a former one. */
export function presentId(former: readonly FormerIds[], kind: KnownKind, id: number): number {
  const range = former.find((each) => each.kind === kind && each.first_id <= id && id <= each.last_id);
  return range === undefined ? id : id + range.shift;
}

const ROUTE = /^((?:[A-Z]+ )?\/api\/v1\/(workflows|executions)\/)([1-9]\d{0,14})(?=\/|$)/;

/** The same path, with or without its method, with the id here. */
export function presentPath(former: readonly FormerIds[], path: string): string {
  if (former.length === 0) return path;
  return path.replace(
    ROUTE,
    (_, start: string, kind: KnownKind, id: string) => `${start}${presentId(former, kind, Number(id))}`,
  );
}

/** Those of an organisation; nearly always none. */
export async function listFormerIds(db: Queryable, organisationId: number): Promise<FormerIds[]> {
  return db.query<FormerIds>(
    'SELECT kind, first_id, last_id, shift FROM former_ids WHERE organisation_id = $1 ORDER BY kind, first_id',
    [organisationId],
  );
}
