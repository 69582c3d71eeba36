import type { WorkflowSort } from '@millrace/admin-api';
import { id, oneOf, searchReader, text } from '@millrace/ui/api/search-params.ts';

export const LIST_STATUSES = ['all', 'draft', 'active', 'inactive', 'archived'] as const;
export type ListStatus = (typeof LIST_STATUSES)[number];

export const SORTS = ['created', 'name', 'updated', 'last_run'] as const satisfies readonly WorkflowSort[];

/** A folder's id, or `none` for the workflows in no folder. */
const folder = (value: unknown): number | 'none' | undefined => (value === 'none' ? value : id(value));

/** Filters of the list as stored in the address. */
export const readListSearch = searchReader({
  search: text,
  status: oneOf(LIST_STATUSES),
  tag: text,
  folder,
  favourites: oneOf([true]),
  sort: oneOf(SORTS),
});
export type ListSearch = ReturnType<typeof readListSearch>;
