import type { Queryable } from '@millrace/database/database';

/**
 * Until the end of the transaction, pages are read along an index in their order. PostgreSQL assumes that the conditions on organisation and
 * workflow are independent and expects almost no row to meet both, so it would collect all executions of a workflow and sort them.
 */
export async function readInOrder(tx: Queryable): Promise<void> {
  await tx.query(`SELECT set_config('enable_bitmapscan', 'off', true)`);
}
