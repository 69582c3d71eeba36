import { randomUUID } from 'node:crypto';
import type { Database, Queryable } from '@millrace/database/database';
import { sealAuditLog } from '@millrace/identity/audit/seal';
import { verifyAuditLog } from '@millrace/identity/audit/verify';
import { createPruner, prune } from '@millrace/service/retention/prune';
import { pruneExecutions } from '@millrace/service/retention/store';
import { rewriteAuditLog } from '@millrace/testing/audit-log';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { buffersOf } from '@millrace/testing/list-cost';
import { insertWorkflow, type WorkflowIds } from '@millrace/testing/rows';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

const RETENTION = {
  executionsDays: { completed: 10, failed: 30, cancelled: 20 },
  auditDays: 365,
  statisticsDays: 400,
  idempotencyHours: 24,
  idleSessionMs: 24 * 3_600_000,
};

let database: TestDatabase;
let ids: WorkflowIds;
beforeAll(async () => {
  database = await createTestDatabase();
  ids = await insertWorkflow(database.db, 'prune');
});
afterAll(() => database.drop());

async function insert(status: string, daysOld: number): Promise<number> {
  const isFinal = ['completed', 'failed', 'cancelled'].includes(status);
  const [row] = await database.db.query<{ id: number }>(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input, created_at, started_at, completed_at, error, wake_at, worker_id)
     SELECT $1, $2, 1, $3, 'api', 'sample', false, '{}', t, t, CASE WHEN $5 THEN t END,
       CASE WHEN $3 = 'failed' THEN '{}'::json END, CASE WHEN $3 = 'waiting_async' THEN t END,
       CASE WHEN $3 = 'running' THEN gen_random_uuid() END
     FROM (SELECT now() - $4::integer * interval '1 day' AS t) age RETURNING id`,
    [ids.organisationId, ids.workflowId, status, daysOld, isFinal],
  );
  await database.db.query(
    "INSERT INTO execution_checkpoints (execution_id, seq, organisation_id, records) VALUES ($1, 1, $2, '[]')",
    [row?.id, ids.organisationId],
  );
  return row?.id ?? 0;
}

test('ended executions are deleted after the days of their status, with their checkpoints; others never', async () => {
  const kept = [];
  const gone = [];
  // Oldest first, as ids are assigned.
  for (const status of ['queued', 'running', 'waiting_async']) kept.push(await insert(status, 1000));
  gone.push(await insert('failed', 31));
  kept.push(await insert('failed', 29));
  // More than one batch of rows to keep precedes the next one to delete.
  await database.db.query(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input, created_at, started_at, completed_at, error)
     SELECT $1, $2, 1, 'failed', 'api', 'many', false, '{}', t, t, t, '{}'
     FROM generate_series(1, 2500), (SELECT now() - interval '25 days' AS t) age`,
    [ids.organisationId, ids.workflowId],
  );
  gone.push(await insert('cancelled', 21));
  kept.push(await insert('cancelled', 19));
  gone.push(await insert('completed', 12), await insert('completed', 11));
  kept.push(await insert('completed', 9));
  const young = await insert('completed', 0);
  expect((await prune(database.db, RETENTION)).executions).toBe(gone.length);
  const rows = await database.db.query<{ id: number }>(
    "SELECT id FROM executions WHERE display_name <> 'many' ORDER BY id",
  );
  expect(rows.map((row) => row.id)).toEqual([...kept, young]);
  const chunks = await database.db.query<{ execution_id: number }>(
    'SELECT execution_id FROM execution_checkpoints',
  );
  expect(chunks).toHaveLength(kept.length + 1);
  expect((await prune(database.db, RETENTION)).executions).toBe(0);
  // Rows that stay are not read again: 2,500 rows fill more than 50 pages.
  await database.db.query('ANALYZE executions');
  for (const status of ['completed', 'failed', 'cancelled'] as const) {
    const days = RETENTION.executionsDays[status];
    const round = (tx: Queryable) => pruneExecutions(tx, status, days, 0, 1000);
    expect(await buffersOf({ database, ids, rare: 0 }, round)).toBeLessThan(30);
  }
});

test('an organisation can keep executions for less time than the service, never longer', async () => {
  const { db } = database;
  const other = await insertWorkflow(db, 'prune sooner');
  await db.query(
    'INSERT INTO organisation_settings (organisation_id, retention_days_completed, retention_days_failed) VALUES ($1, 2, 60)',
    [other.organisationId],
  );
  const insertTheirs = async (status: string, daysOld: number) => {
    const id = await insert(status, daysOld);
    await db.query('ALTER TABLE executions DISABLE TRIGGER USER');
    await db.query('UPDATE executions SET organisation_id = $2, workflow_id = $3 WHERE id = $1', [
      id,
      other.organisationId,
      other.workflowId,
    ]);
    await db.query('ALTER TABLE executions ENABLE TRIGGER USER');
    return id;
  };
  await insertTheirs('failed', 31);
  await insertTheirs('completed', 3);
  const kept = [await insertTheirs('failed', 3), await insertTheirs('completed', 1)];
  expect((await prune(db, RETENTION)).executions).toBe(2);
  expect(
    await db.query('SELECT id FROM executions WHERE organisation_id = $1 ORDER BY id', [
      other.organisationId,
    ]),
  ).toEqual(kept.map((id) => ({ id })));
});

test('audit entries, idempotency records and workers long gone are deleted', async () => {
  const { db } = database;
  for (const age of ['364 days', '366 days']) {
    await db.query(
      "INSERT INTO audit_log (organisation_id, action, actor, occurred_at) VALUES ($1, 'test', 'service', now() - $2::interval)",
      [ids.organisationId, age],
    );
  }
  for (const age of ['23 hours 59 minutes', '24 hours 1 minute']) {
    await db.query(
      `INSERT INTO idempotency_records (organisation_id, key_family_id, route, idempotency_key, fingerprint, status, body, created_at)
       VALUES ($1, $2, 'POST /x', 'k', sha256('x'), 202, '{}', now() - $3::interval)`,
      [ids.organisationId, randomUUID(), age],
    );
  }
  const [busy, gone, fresh] = [randomUUID(), randomUUID(), randomUUID()];
  for (const [id, age] of [
    [busy, '2 hours'],
    [gone, '2 hours'],
    [fresh, '1 minute'],
  ] as const) {
    await db.query(
      "INSERT INTO workers (id, host, pid, lease_expires_at) VALUES ($1, 'h', 1, now() - $2::interval)",
      [id, age],
    );
  }
  for (const age of ['89 days', '91 days']) {
    await db.query(
      `INSERT INTO alert_messages (organisation_id, rule_name, kind, channel, occurrences, created_at)
       VALUES ($1, 'rule', 'failure', 'mail', 1, now() - $2::interval)`,
      [ids.organisationId, age],
    );
  }
  const running = await insert('running', 0);
  await db.query('UPDATE executions SET worker_id = $1 WHERE id = $2', [busy, running]);
  await sealAuditLog(db);
  expect(await prune(db, RETENTION)).toEqual({
    executions: 0,
    auditEntries: 1,
    idempotencyRecords: 1,
    workflowRuns: 0,
    workers: 1,
    scheduleFires: 0,
    permitChanges: 0,
    startRates: 0,
    webhookDeliveries: 0,
    trials: 0,
    sampleListeners: 0,
    formerWebhookHashes: 0,
    polledItems: 0,
    alerts: 1,
    dataEntries: 0,
    dataWrites: 0,
    chats: 0,
    chatTexts: 0,
    memories: 0,
    sessions: 0,
    invitations: 0,
    setupLinks: 0,
  });
  const left = await db.query<{ id: string }>('SELECT id FROM workers');
  expect(left.map((row) => row.id).sort()).toEqual([busy, fresh].sort());
});

test('of changes that permits are checked against, the newest of each organisation stays, and all of today', async () => {
  await database.db.query('DELETE FROM permit_changes');
  const rows = [
    { organisation: 7, xid: 1, days: 3 },
    { organisation: 7, xid: 2, days: 2 },
    { organisation: 8, xid: 3, days: 2 },
    { organisation: 9, xid: 4, days: 2 },
    { organisation: 9, xid: 5, days: 0 },
    { organisation: 9, xid: 6, days: 0 },
  ];
  for (const { organisation, xid, days } of rows) {
    await database.db.query(
      `INSERT INTO permit_changes (organisation_id, xid, noted_at) VALUES ($1, $2::text::xid8, now() - make_interval(days => $3))`,
      [organisation, String(xid), days],
    );
  }
  expect((await prune(database.db, RETENTION)).permitChanges).toBe(2);
  const left = await database.db.query<{ xid: string }>('SELECT xid::text FROM permit_changes ORDER BY xid');
  expect(left.map(({ xid }) => xid)).toEqual(['2', '3', '5', '6']);
});

describe('the beginning of an audit log', () => {
  /** Of an organisation that has entries so many days old, in this order, all sealed. */
  async function logOf(name: string, ...days: number[]): Promise<number> {
    const { organisationId } = await insertWorkflow(database.db, name);
    for (const age of days) {
      await database.db.query(
        `INSERT INTO audit_log (organisation_id, action, actor, occurred_at)
         VALUES ($1, 'test', 'service', now() - $2::integer * interval '1 day')`,
        [organisationId, age],
      );
      await sealAuditLog(database.db);
    }
    return organisationId;
  }

  test('is deleted as far as everything in it has expired; the rest is verified by what the chain keeps', async () => {
    const id = await logOf('beginnings', 400, 370, 300, 380, 3);
    expect(await prune(database.db, RETENTION)).toMatchObject({ auditEntries: 2 });
    expect(await verifyAuditLog(database.db, id)).toMatchObject({ entries: 3, dropped: 2, problems: [] });
    const shorter = { ...RETENTION, auditDays: 200 };
    await prune(database.db, shorter);
    expect(await verifyAuditLog(database.db, id)).toMatchObject({ entries: 1, dropped: 4, problems: [] });
    expect(await prune(database.db, RETENTION)).toMatchObject({ auditEntries: 0 });
  });

  test('is not deleted early because one of its entries is missing', async () => {
    const id = await logOf('a gap', 20, 10);
    const [first] = await database.db.query<{ id: number }>(
      'SELECT min(id) AS id FROM audit_log WHERE organisation_id = $1',
      [id],
    );
    await rewriteAuditLog(database.db, 'DELETE FROM audit_log WHERE id = $1', [first?.id]);
    expect(await prune(database.db, RETENTION)).toMatchObject({ auditEntries: 0 });
    expect(await verifyAuditLog(database.db, id)).toMatchObject({
      problems: [{ kind: 'entry_missing', entryId: first?.id, position: 1 }],
    });
  });
});

test("expired entries of the data store are deleted, and writes that can't be repeated any more", async () => {
  const { db } = database;
  for (const [key, expiry] of [
    ['for ever', null],
    ['tomorrow', '1 day'],
    ['yesterday', '-1 day'],
  ]) {
    await db.query(
      "INSERT INTO data_entries (organisation_id, key, value, expires_at) VALUES ($1, $2, '1', now() + $3::interval)",
      [ids.organisationId, key, expiry],
    );
  }
  for (const age of ['29 days', '31 days']) {
    await db.query(
      "INSERT INTO data_writes (organisation_id, write_key, result, created_at) VALUES ($1, sha256($2::bytea), '{}', now() - $3::interval)",
      [ids.organisationId, age, age],
    );
  }
  expect(await prune(db, RETENTION)).toMatchObject({ dataEntries: 1, dataWrites: 1 });
  const left = await db.query<{ key: string }>('SELECT key FROM data_entries ORDER BY key');
  expect(left.map((row) => row.key)).toEqual(['for ever', 'tomorrow']);
});

test('chats whose turns are gone are deleted, and what was written for nobody', async () => {
  const { db } = database;
  for (const [hash, age, hasTurn] of [
    ['empty and new', '1 hour', false],
    ['empty and old', '2 days', false],
    ['used', '2 days', true],
  ]) {
    await db.query(
      `INSERT INTO chat_sessions (workflow_id, organisation_id, session_hash, last_at)
       VALUES ($1, $2, sha256($3::bytea), now() - $4::interval)`,
      [ids.workflowId, ids.organisationId, hash, age],
    );
    if (hasTurn)
      await db.query(
        `INSERT INTO chat_turns (workflow_id, organisation_id, session_hash, number, message_hash, execution_id, message)
         VALUES ($1, $2, sha256($3::bytea), 1, sha256('m'), 1, 'Hello')`,
        [ids.workflowId, ids.organisationId, hash],
      );
    await db.query(
      `INSERT INTO chat_streams (execution_id, organisation_id, node_ids, written_at)
       SELECT count(*) + 1, $1, '{}', now() - $2::interval FROM chat_streams`,
      [ids.organisationId, age],
    );
  }
  expect(await prune(db, RETENTION)).toMatchObject({ chats: 1, chatTexts: 2 });
});

test('ended sessions are deleted, and invitations that ended long ago', async () => {
  const { db } = database;
  const [user] = await db.query<{ id: number }>(
    "INSERT INTO users (email, name) VALUES ('ada@example.com', 'Ada') RETURNING id",
  );
  for (const [left, idle] of [
    ['1 hour', '23 hours 59 minutes'],
    ['-1 hour', '0'],
    ['1 hour', '24 hours 1 minute'],
  ]) {
    await db.query(
      `INSERT INTO sessions (user_id, token_hash, expires_at, last_seen_at)
       VALUES ($1, sha256($2::bytea), now() + $3::interval, now() - $4::interval)`,
      [user?.id, `${left} ${idle}`, left, idle],
    );
  }
  for (const age of ['89 days', '91 days']) {
    await db.query(
      `INSERT INTO invitations (organisation_id, token_hash, role, expires_at)
       VALUES ($1, sha256($2::bytea), 'viewer', now() - $3::interval)`,
      [ids.organisationId, age, age],
    );
  }
  expect(await prune(db, RETENTION)).toMatchObject({ sessions: 2, invitations: 1 });
  expect(await db.query('SELECT FROM sessions WHERE expires_at > now()')).toHaveLength(1);
  expect(await db.query('SELECT FROM invitations')).toHaveLength(1);
});

test('setup links are deleted once there is an account, and not before', async () => {
  const { db } = database;
  await db.query('DELETE FROM users');
  await db.query("INSERT INTO setup_links (token_hash) VALUES (sha256('left over'))");
  expect((await prune(db, RETENTION)).setupLinks).toBe(0);
  await db.query("INSERT INTO users (email, name) VALUES ('ada@example.com', 'Ada')");
  expect((await prune(db, RETENTION)).setupLinks).toBe(1);
  expect(await db.query('SELECT FROM setup_links')).toEqual([]);
});

test('what belongs to an execution is deleted with it, and with no other', async () => {
  const { db } = database;
  const [gone, kept] = [await insert('completed', 11), await insert('completed', 9)];
  for (const id of [gone, kept]) {
    await db.query(
      `WITH signal AS (
         INSERT INTO execution_signals (execution_id, seq, organisation_id, node_id, iteration, payload)
         VALUES ($1, 1, $2, 'wait', '{}', '{}')
       ), follow_up AS (
         INSERT INTO execution_follow_ups (kind, execution_id, organisation_id) VALUES ('check_alerts', $1, $2)
       )
       INSERT INTO callbacks (organisation_id, execution_id, node_id, iteration, kind, token_hash, expires_at)
       VALUES ($2, $1, 'wait', '{}', 'callback', sha256($1::text::bytea), now())`,
      [id, ids.organisationId],
    );
  }
  expect((await prune(db, RETENTION)).executions).toBe(1);
  for (const table of ['callbacks', 'execution_checkpoints', 'execution_follow_ups', 'execution_signals']) {
    const rows = await db.query(`SELECT execution_id FROM ${table} WHERE execution_id IN ($1, $2)`, [
      gone,
      kept,
    ]);
    expect({ table, rows }).toEqual({ table, rows: [{ execution_id: kept }] });
  }
});

test('rests after each full batch of executions', async () => {
  await database.db.query(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input, created_at, started_at, completed_at)
     SELECT $1, $2, 1, 'completed', 'api', 'batches', false, '{}', t, t, t
     FROM generate_series(1, 2500) n, LATERAL (SELECT now() - interval '11 days' + n * interval '1 second' AS t) age
     ORDER BY n`,
    [ids.organisationId, ids.workflowId],
  );
  const rests: number[] = [];
  const noteRest = (tookMs: number): Promise<void> => {
    rests.push(tookMs);
    return Promise.resolve();
  };
  expect((await prune(database.db, RETENTION, () => false, noteRest)).executions).toBe(2500);
  expect(rests).toEqual([expect.any(Number), expect.any(Number)]);
  expect(Math.min(...rests)).toBeGreaterThan(0);
});

test('starts soon after startup', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const started = Promise.withResolvers<void>();
    const away: Pick<Database, 'transaction'> = {
      transaction() {
        started.resolve();
        return Promise.reject(new Error('enough'));
      },
    };
    const pruner = createPruner(away as Database, RETENTION, pino({ level: 'silent' }));
    pruner.start();
    await vi.advanceTimersByTimeAsync(30_000);
    await started.promise;
    await pruner.stop();
  } finally {
    vi.useRealTimers();
  }
});

test('does nothing while another process prunes', async () => {
  await insert('completed', 11);
  const entered = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const other = database.db.transaction(async (tx) => {
    await tx.query("SELECT pg_advisory_xact_lock(hashtextextended('millrace prune', 0))");
    entered.resolve();
    await release.promise;
  });
  await entered.promise;
  expect((await prune(database.db, RETENTION)).executions).toBe(0);
  release.resolve();
  await other;
  expect((await prune(database.db, RETENTION)).executions).toBe(1);
});
