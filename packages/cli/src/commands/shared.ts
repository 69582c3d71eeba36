import type { Column } from './table.ts';

/** The actor in audit entries of commands. */
export const OPERATOR = { actor: 'operator' } as const;

/** The option that names an organisation. */
export const ORG = {
  flags: '--org <id or name>',
  description: 'the organisation; optional while there is only one',
};

/** For people: `1 execution`, `1,000 executions`. */
export function countOf(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : plural}`;
}

/** The first column of tables. */
export const ID_COLUMN: Column<{ readonly id: number }> = {
  title: 'ID',
  align: 'right',
  cell: (row) => String(row.id),
};
