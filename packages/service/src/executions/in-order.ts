import type { Queryable } from '@millrace/database/database';

/**
 * Until the end of the transaction, pages are read along an index that has their order. PostgreSQL takes the conditions on organisation and
 * workflow for independent and expects next to nothing to meet both, so it would rather collect all executions of a workflow and sort them.
 */
export async function readInOrder(tx: Queryable): Promise<void> {
  await tx.query(`SELECT set_config('enable_bitmapscan', 'off', true)`);
}
