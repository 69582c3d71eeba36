import type { Queryable } from '@millrace/database/database';

/** A signal to be sent; the database assigns its number. */
export interface NewSignal {
  readonly nodeId: string;
  readonly iteration: readonly number[];
  /** JSON text. */
  readonly payloadJson: string;
}

/**
 * Stores a signal and makes a parked execution claimable at once. Returns no row if the execution is final or doesn't exist.
 * The row lock numbers signals in commit order, and makes a park in progress see the signal.
 */
export async function insertSignal(
  db: Queryable,
  executionId: number,
  signal: NewSignal,
): Promise<{ id: number }[]> {
  return db.query(
    `WITH target AS (
       UPDATE executions SET signal_seq = signal_seq + 1,
         wake_at = CASE WHEN status = 'waiting_async' THEN least(wake_at, now()) END
       WHERE id = $1 AND completed_at IS NULL
       RETURNING id, organisation_id, signal_seq, status
     ), stored AS (
       INSERT INTO execution_signals (execution_id, seq, organisation_id, node_id, iteration, payload)
       SELECT id, signal_seq, organisation_id, $2, $3::integer[], $4::json FROM target
     )
     SELECT id, CASE status WHEN 'waiting_async' THEN pg_notify('millrace_queue', '')
       WHEN 'running' THEN pg_notify('millrace_executions', id || '+') END
     FROM target`,
    [executionId, signal.nodeId, signal.iteration, signal.payloadJson],
    'insert_signal',
  );
}

export interface SignalRow {
  readonly execution_id: number;
  readonly seq: number;
  readonly node_id: string;
  readonly iteration: number[];
  /** JSON text. */
  readonly payload: string;
}

/** Signals of one execution after a number, in order. */
export async function listSignals(
  db: Queryable,
  executionId: number,
  afterSeq: number,
): Promise<SignalRow[]> {
  return db.query(
    `SELECT execution_id, seq, node_id, iteration, payload FROM execution_signals
     WHERE execution_id = $1 AND seq > $2 ORDER BY seq`,
    [executionId, afterSeq],
    'select_signals',
  );
}

/** All signals of several executions, in order. */
export async function listSignalsOf(db: Queryable, executionIds: readonly number[]): Promise<SignalRow[]> {
  return db.query(
    `SELECT execution_id, seq, node_id, iteration, payload FROM execution_signals
     WHERE execution_id = ANY($1::bigint[]) ORDER BY execution_id, seq`,
    [executionIds],
  );
}

/** Those executions that were sent more signals than their runs have seen. */
export async function findSignalled(
  db: Queryable,
  seen: readonly { readonly executionId: number; readonly seq: number }[],
): Promise<{ id: number }[]> {
  return db.query(
    `SELECT e.id FROM unnest($1::bigint[], $2::integer[]) AS s (id, seq) JOIN executions e USING (id)
     WHERE e.signal_seq > s.seq`,
    [seen.map(({ executionId }) => executionId), seen.map(({ seq }) => seq)],
  );
}
