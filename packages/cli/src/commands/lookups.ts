import type { Queryable } from '@millrace/database/database';
import { notFound } from '@millrace/errors/errors';

const STATEMENTS = {
  workflow: 'SELECT organisation_id FROM workflows WHERE id = $1',
  execution: 'SELECT organisation_id FROM executions WHERE id = $1',
};

/** The organisation that owns it: ids are unique across organisations. @throws ApiError `not_found` */
export async function findOwner(db: Queryable, what: keyof typeof STATEMENTS, id: number): Promise<number> {
  const [row] = await db.query<{ organisation_id: number }>(STATEMENTS[what], [id]);
  if (row === undefined) throw notFound(what);
  return row.organisation_id;
}
