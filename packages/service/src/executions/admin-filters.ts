import type { Queryable } from '@millrace/database/database';
import type { ExecutionStatus } from '@millrace/engine';

/** Which executions a list shows. */
export interface AdminExecutionFilters {
  readonly statuses: readonly ExecutionStatus[] | null;
  readonly workflowId: number | null;
  readonly triggerType: string | null;
  readonly isTestMode: boolean | null;
  /** Part of the display name, in any case. */
  readonly text: string | null;
  /** The key that started it. */
  readonly apiKeyId: number | null;
  /** Part of the address it was started from. */
  readonly sourceIp: string | null;
  /** Each is part of the error; for failed ones only. */
  readonly errorWords: readonly ErrorWord[] | null;
  /** One of them is part of the input's JSON text, in any case. */
  readonly inputTexts: readonly string[] | null;
  /** Value of one of the search keys, ignoring case. */
  readonly searchKey: string | null;
  readonly after: Date | null;
  readonly before: Date | null;
}

/** A word of an error, which is stored as codes, parameters and the keys of its sentences. */
export interface ErrorWord {
  readonly word: string;
  /** Regular expression for the keys of the sentences with that word in one of the languages; null for none. */
  readonly keys: string | null;
}

/** Ids that bound a list, both exclusive. */
export interface IdRange {
  readonly aboveId: number;
  readonly belowId: number;
}

/**
 * The possible ids of a time range: ids are assigned in creation order give or take the duration of a statement, so the
 * bounds allow a minute. The time bounds themselves still have to be checked.
 */
export async function findIdRange(
  tx: Queryable,
  organisationId: number,
  { after, before }: AdminExecutionFilters,
): Promise<IdRange> {
  if (after === null && before === null) return { aboveId: 0, belowId: Number.MAX_SAFE_INTEGER };
  const [row] = await tx.query<{ above_id: number | null; below_id: number | null }>(
    `SELECT
       (SELECT id FROM executions WHERE organisation_id = $1 AND created_at < $2::timestamptz - interval '1 minute'
        ORDER BY created_at DESC LIMIT 1) AS above_id,
       (SELECT id FROM executions WHERE organisation_id = $1 AND created_at > $3::timestamptz + interval '1 minute'
        ORDER BY created_at LIMIT 1) AS below_id`,
    [organisationId, after, before],
  );
  return { aboveId: row?.above_id ?? 0, belowId: row?.below_id ?? Number.MAX_SAFE_INTEGER };
}

/** Larger inputs aren't searched, by their compressed size: a page looks at hundreds of them. */
export const MAX_SEARCHED_BYTES = 32 * 1024;

/** Whether a row matches; parameters 5 to 16 are those of {@link valuesOf}. An input is read whole, so
 * large ones, even when compressed, are left out. */
export const FITS = `($5::bigint IS NULL OR workflow_id = $5) AND ($6::text[] IS NULL OR status = ANY ($6))
  AND ($7::text IS NULL OR trigger_type = $7) AND ($8::boolean IS NULL OR is_test_mode = $8)
  AND ($9::text IS NULL OR strpos(lower(display_name), lower($9)) > 0)
  AND ($10::timestamptz IS NULL OR created_at >= $10) AND ($11::timestamptz IS NULL OR created_at <= $11)
  AND ($12::bigint IS NULL OR api_key_id = $12) AND ($13::text IS NULL OR strpos(source_ip, $13) > 0)
  AND ($14::text[] IS NULL OR (error IS NOT NULL AND NOT EXISTS (
    SELECT FROM unnest($14, $15::text[]) AS wanted (word, keys), LATERAL (SELECT lower(concat_ws(' ', error->>'code',
      error->>'node_id', CASE json_typeof(error->'message') WHEN 'string' THEN error->>'message'
        ELSE error->'message'->>'params' END)) AS said) AS stored
    WHERE strpos(said, word) = 0 AND (keys IS NULL OR error::text !~ keys))))
  AND ($16::text[] IS NULL OR (pg_column_size(input) <= ${MAX_SEARCHED_BYTES} AND EXISTS (
    SELECT FROM unnest($16) AS wanted (part) WHERE strpos(lower(input::text), lower(part)) > 0)))`;

export const valuesOf = (filters: AdminExecutionFilters) =>
  [
    filters.workflowId,
    filters.statuses,
    filters.triggerType,
    filters.isTestMode,
    filters.text,
    filters.after,
    filters.before,
    filters.apiKeyId,
    filters.sourceIp,
    filters.errorWords?.map(({ word }) => word) ?? null,
    filters.errorWords?.map(({ keys }) => keys) ?? null,
    filters.inputTexts,
  ] as const;

/**
 * How many executions match, by PostgreSQL's statistics: nothing is counted. The planner guesses how many rows row-level security hides, so its
 * numbers only serve as a ratio to all rows. Not for a transaction that is narrowed to an organisation, where that guess would differ.
 */
export async function estimateExecutions(
  db: Queryable,
  organisationId: number,
  filters: AdminExecutionFilters,
): Promise<number> {
  const tables = db.query<{ rows: number }>(
    `SELECT (reltuples / greatest(relpages, 1) * pg_relation_size(oid) / current_setting('block_size')::integer)
       ::double precision AS rows
     FROM pg_class WHERE oid = 'executions'::regclass`,
  );
  const every = db.query<Explained>('EXPLAIN (FORMAT JSON) SELECT FROM executions');
  const matching = db.query<Explained>(
    `EXPLAIN (FORMAT JSON) SELECT FROM executions
     WHERE organisation_id = $1 AND ($2::bigint IS NULL OR workflow_id = $2) AND ($3::text[] IS NULL OR status = ANY ($3))
       AND ($4::text IS NULL OR trigger_type = $4) AND ($5::boolean IS NULL OR is_test_mode = $5)
       AND ($6::bigint IS NULL OR api_key_id = $6)
       AND ($7::timestamptz IS NULL OR created_at >= $7) AND ($8::timestamptz IS NULL OR created_at <= $8)`,
    [
      organisationId,
      filters.workflowId,
      filters.statuses,
      filters.triggerType,
      filters.isTestMode,
      filters.apiKeyId,
      filters.after,
      filters.before,
    ],
  );
  const [[table], all, some] = await Promise.all([tables, every, matching]);
  return Math.round(((table?.rows ?? 0) * plannedRows(some)) / Math.max(1, plannedRows(all)));
}

interface Explained {
  readonly 'QUERY PLAN': string;
}

function plannedRows([explained]: readonly Explained[]): number {
  const [root] = JSON.parse(explained?.['QUERY PLAN'] ?? '[]') as { Plan: { 'Plan Rows': number } }[];
  return root?.Plan['Plan Rows'] ?? 0;
}
