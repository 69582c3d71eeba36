/**
 * What parts of the list are, said outright: not every browser still takes a table for one whose rows are laid out
 * otherwise, as those have to be that the browser may leave out while they are far away.
 */
export const ROLES = {
  table: { role: 'table' },
  group: { role: 'rowgroup' },
  row: { role: 'row' },
  head: { role: 'columnheader' },
  cell: { role: 'cell' },
  list: { role: 'list' },
  listItem: { role: 'listitem' },
} as const;
