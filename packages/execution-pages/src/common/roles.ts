/**
 * Explicit ARIA roles for the list: some browsers drop table semantics when rows have another display type, which they
 * need so that browsers can skip rendering those far away.
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
