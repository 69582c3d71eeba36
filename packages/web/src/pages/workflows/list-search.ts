import { oneOf, searchReader, text } from '@millrace/ui/api/search-params.ts';

export const LIST_STATUSES = ['all', 'draft', 'active', 'inactive', 'archived'] as const;
export type ListStatus = (typeof LIST_STATUSES)[number];

/** Filters of the list as stored in the address. */
export const readListSearch = searchReader({ search: text, status: oneOf(LIST_STATUSES), tag: text });
export type ListSearch = ReturnType<typeof readListSearch>;
