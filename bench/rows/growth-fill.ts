import { longDatabase, newDatabase } from '../growth/databases.ts';
import { metric } from '../growth/loads.ts';
import type { Row } from '../row.ts';

/** Fills the databases of the rows about a long history, which takes long and need not be measured on an idle machine. */
export const growthFillRow: Row = {
  id: 'growth-fill',
  isNamedOnly: true,
  metrics: [metric('fill', 'size of the history', 'MiB')],
  async measure(bench) {
    await newDatabase(bench);
    const { db } = await longDatabase(bench);
    const [size] = await db.query<{ mib: number }>(
      'SELECT (pg_database_size(current_database()) / 1048576)::integer AS mib',
    );
    return { 'growth.fill': size?.mib ?? 0 };
  },
};
