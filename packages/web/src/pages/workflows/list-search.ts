/** Filters of the list, as they stand in the address. */
export interface ListSearch {
  readonly search?: string;
  readonly status?: ListStatus;
  readonly tag?: string;
}

export const LIST_STATUSES = ['all', 'draft', 'active', 'inactive', 'archived'] as const;
export type ListStatus = (typeof LIST_STATUSES)[number];

/** What is no filter in an address is left out. */
export function readListSearch(given: { readonly [name: string]: unknown }): ListSearch {
  const { search, status, tag } = given;
  const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
  const known = LIST_STATUSES.find((each) => each === status);
  return {
    ...(isText(search) ? { search } : {}),
    ...(known === undefined ? {} : { status: known }),
    ...(isText(tag) ? { tag } : {}),
  };
}
