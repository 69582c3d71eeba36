import type { Queryable } from '@millrace/database/database';
import { notFound } from '@millrace/errors/errors';

/** The organisation of a workflow: ids are unique across organisations. @throws ApiError `not_found` */
export async function findOwnerOfWorkflow(db: Queryable, id: number): Promise<number> {
  const [row] = await db.query<{ organisation_id: number }>(
    'SELECT organisation_id FROM workflows WHERE id = $1',
    [id],
  );
  if (row === undefined) throw notFound('workflow');
  return row.organisation_id;
}

/** The organisation of an execution. @throws ApiError `not_found` */
export async function findOwnerOfExecution(db: Queryable, id: number): Promise<number> {
  const [row] = await db.query<{ organisation_id: number }>(
    'SELECT organisation_id FROM executions WHERE id = $1',
    [id],
  );
  if (row === undefined) throw notFound('execution');
  return row.organisation_id;
}
