import type { Column } from './table.ts';

/** The actor in audit entries of commands. */
export const OPERATOR = { actor: 'operator' } as const;

/** The option that names an organisation. */
export const ORG = {
  flags: '--org <id or name>',
  description: 'the organisation; optional while there is only one',
};

/** The first column of tables. */
export const ID_COLUMN: Column<{ readonly id: number }> = {
  title: 'ID',
  align: 'right',
  cell: (row) => String(row.id),
};
