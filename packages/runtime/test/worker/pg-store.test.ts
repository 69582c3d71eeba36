import { randomUUID } from 'node:crypto';
import { type NodeRecord, parseJson } from '@millrace/engine';
import { executionStoreContract, type StoreHarness } from '@millrace/engine/testing';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { insertWorkflow } from '@millrace/testing/rows';
import { afterAll, beforeAll } from 'vitest';
import { PgCompleteStore } from './complete-store.ts';

interface Row {
  readonly status: 'queued' | 'running' | 'waiting_async' | 'completed' | 'failed' | 'cancelled';
  readonly worker_id: string | null;
  readonly claim: number;
  readonly error: string | null;
  readonly cancel_code: string | null;
  readonly cancelled_for: number | null;
  readonly started_at: Date | null;
  readonly completed_at: Date | null;
  /** A number if it is parked forever. */
  readonly wake_at: Date | number | null;
  readonly consumed_ai_tokens: number;
}

/** Shared by all tests: connections to a new one have everything to learn. */
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function makeHarness(): Promise<StoreHarness> {
  const { db } = database;
  const { organisationId, workflowId } = await insertWorkflow(db, randomUUID());
  const store = new PgCompleteStore(db);
  return {
    store,
    newWorkerId: () => randomUUID(),
    newRequest: (executionId) => ({
      executionId,
      organisationId,
      workflowId,
      workflowVersion: 1,
      triggerType: 'api',
      displayName: 'sample',
      isTestMode: false,
      input: {},
      leaseTo: null,
      timeoutMs: null,
    }),
    newOrganisation: () => insertWorkflow(db, randomUUID()),
    async expireLease(workerId) {
      await db.query("UPDATE workers SET lease_expires_at = now() - interval '1 second' WHERE id = $1", [
        workerId,
      ]);
    },
    async endWait(executionId) {
      await db.query("UPDATE executions SET wake_at = now() - interval '1 second' WHERE id = $1", [
        executionId,
      ]);
    },
    async now() {
      const [row] = await db.query<{ now: Date }>('SELECT now()');
      return row?.now.getTime() ?? 0;
    },
    async readExecution(executionId) {
      const [row] = await db.query<Row>('SELECT * FROM executions WHERE id = $1', [executionId]);
      if (row === undefined) return null;
      const chunks = await db.query<{ records: string }>(
        'SELECT records FROM execution_chunks WHERE execution_id = $1 ORDER BY seq',
        [executionId],
      );
      const error = row.error === null ? null : JSON.parse(row.error);
      return {
        status: row.status,
        workerId: row.worker_id,
        claim: row.claim,
        records: chunks.flatMap((chunk) => parseJson(chunk.records) as NodeRecord[]),
        error: error === null ? null : { code: error.code, message: error.message, nodeId: error.node_id },
        cancellation:
          row.cancel_code === null ? null : { code: row.cancel_code, executionId: row.cancelled_for ?? 0 },
        startedAtMs: row.started_at?.getTime() ?? null,
        completedAtMs: row.completed_at?.getTime() ?? null,
        wakeAtMs: row.wake_at instanceof Date ? row.wake_at.getTime() : null,
        consumedAiTokens: row.consumed_ai_tokens,
      };
    },
    // What the next test would see: claims know no organisation.
    async cleanup() {
      await db.query('DELETE FROM executions');
      await db.query('DELETE FROM workers');
    },
  };
}

executionStoreContract('PostgreSQL', makeHarness);
