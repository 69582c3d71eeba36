import type { WorkflowSort, WorkflowStatus } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import type { WorkflowRow } from './store.ts';

/** A workflow as the admin area's list shows it. */
export interface WorkflowItemRow extends WorkflowRow {
  readonly trigger_type: string | null;
  readonly other_triggers: readonly string[];
  readonly folder_id: number | null;
  /** Whether the requesting user has a draft of it. */
  readonly has_draft: boolean;
  /** Whether the requesting user marked it. */
  readonly is_favourite: boolean;
  /** What the list is ordered by, as text; those with the same are ordered by id. */
  readonly sort_key: string;
}

export interface WorkflowFilters {
  readonly statuses: readonly WorkflowStatus[];
  readonly tag: string | null;
  /** Case-insensitive LIKE patterns; each must match the name, the description or a tag. */
  readonly patterns: readonly string[];
  /** An id, `none` for those in no folder, or null for all. */
  readonly folder: number | 'none' | null;
  readonly onlyFavourites: boolean;
}

/** Where a page begins: after the row with this id and key. */
export interface ListPosition {
  readonly id: number;
  readonly key: string;
}

const COLUMNS = `w.id, w.name, w.description, w.status, w.tags, w.is_test_mode, w.version, w.trigger_type, w.other_triggers, w.created_at,
       w.updated_at, w.folder_id`;

/**
 * Each of the two parts, archived or not, is read in the order of an index. Text is lower-cased once per row, not once per word and field:
 * with 100,000 workflows that is the difference between half a second and ten.
 */
const FROM = `FROM workflows w CROSS JOIN LATERAL (
         SELECT lower(concat_ws(E'\\n', w.name, array_to_string(w.tags, E'\\n'), w.description)) AS words OFFSET 0) t
       WHERE w.organisation_id = $1 AND w.is_archived = a.is_archived AND w.status = ANY ($4::text[])
         AND ($5::text IS NULL OR $5 = ANY (w.tags))
         AND t.words LIKE ALL (ARRAY(SELECT lower(p) FROM unnest($6::text[]) p))
         AND ($8::bigint IS NULL OR w.folder_id = $8) AND (NOT $9::boolean OR w.folder_id IS NULL)
         AND (NOT $10::boolean OR w.id = ANY (ARRAY(
           SELECT f.workflow_id FROM workflow_favourites f WHERE f.user_id = $2 AND f.organisation_id = $1)))`;

const PAGE = `SELECT p.*,
       EXISTS (SELECT FROM workflow_drafts d WHERE d.workflow_id = p.id AND d.user_id = $2) AS has_draft,
       EXISTS (SELECT FROM workflow_favourites f WHERE f.workflow_id = p.id AND f.user_id = $2) AS is_favourite
     FROM unnest($3::boolean[]) AS a (is_archived) CROSS JOIN LATERAL`;

const UPDATED_KEY = '(extract(epoch FROM w.updated_at) * 1000000)::bigint';

/** By order: the statement of its pages, and the key that comes before all others. */
const STATEMENTS: { readonly [sort in WorkflowSort]: { readonly text: string; readonly first: string } } = {
  created: {
    text: `${PAGE} (
       SELECT ${COLUMNS}, ''::text AS sort_key ${FROM} AND w.id < $11 AND $12::text IS NOT NULL
       ORDER BY w.id DESC LIMIT $7) p
     ORDER BY p.id DESC LIMIT $7`,
    first: '',
  },
  name: {
    text: `${PAGE} (
       SELECT ${COLUMNS}, w.name_key AS sort_key ${FROM} AND (w.name_key, w.id) > ($12::text, $11)
       ORDER BY w.name_key, w.id LIMIT $7) p
     ORDER BY p.sort_key, p.id LIMIT $7`,
    first: '',
  },
  updated: {
    text: `${PAGE} (
       SELECT ${COLUMNS}, ${UPDATED_KEY}::text AS sort_key ${FROM}
         AND (w.updated_at, w.id) < (timestamptz 'epoch' + $12::text::bigint * interval '1 microsecond', $11)
       ORDER BY w.updated_at DESC, w.id DESC LIMIT $7) p
     ORDER BY p.updated_at DESC, p.id DESC LIMIT $7`,
    first: String(Date.UTC(9000, 0) * 1_000),
  },
  last_run: {
    text: `${PAGE} (
       SELECT ${COLUMNS}, w.last_execution_id, w.last_execution_id::text AS sort_key ${FROM}
         AND (w.last_execution_id, w.id) < ($12::text::bigint, $11)
       ORDER BY w.last_execution_id DESC, w.id DESC LIMIT $7) p
     ORDER BY p.last_execution_id DESC, p.id DESC LIMIT $7`,
    first: String(Number.MAX_SAFE_INTEGER),
  },
};

/** An organisation's next matching workflows in an order; null: from its beginning. */
export async function listWorkflowItems(
  tx: Queryable,
  { organisationId, userId }: { readonly organisationId: number; readonly userId: number },
  { statuses, tag, patterns, folder, onlyFavourites }: WorkflowFilters,
  {
    sort,
    after,
    count,
  }: { readonly sort: WorkflowSort; readonly after: ListPosition | null; readonly count: number },
): Promise<WorkflowItemRow[]> {
  const { text, first } = STATEMENTS[sort];
  const isArchived = new Set(statuses.map((status) => status === 'archived'));
  const firstId = sort === 'name' ? 0 : Number.MAX_SAFE_INTEGER;
  return tx.query<WorkflowItemRow>(text, [
    organisationId,
    userId,
    [...isArchived],
    statuses,
    tag,
    patterns,
    count,
    folder === 'none' ? null : folder,
    folder === 'none',
    onlyFavourites,
    after?.id ?? firstId,
    after?.key ?? first,
  ]);
}
