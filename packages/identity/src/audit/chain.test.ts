import { randomBytes } from 'node:crypto';
import { migrate } from '@millrace/database/migrate';
import { createDatabase } from '@millrace/database/pool';
import { rewriteAuditLog } from '@millrace/testing/audit-log';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { recordScopeViolations } from '../api-keys/scope-violations.ts';
import { createOrganisation } from '../organisations/store.ts';
import { chainHash, formatHead, NO_HASH, parseHead } from './chain.ts';
import { listSealsAbove } from './chain-store.ts';
import type { Verification } from './chain-walk.ts';
import { sealAuditLog } from './seal.ts';
import { insertAudit } from './store.ts';

import { verifyAuditLog } from './verify.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

let organisations = 0;
async function newOrganisation(): Promise<number> {
  organisations += 1;
  const { id } = await createOrganisation(
    database.db,
    `Organisation ${String.fromCharCode(64 + organisations)}`,
    {
      actor: 'operator',
    },
  );
  return id;
}

/** An organisation with so many sealed entries, and their ids in the order of the chain. */
async function sealed(count: number): Promise<{ id: number; entries: number[] }> {
  const id = await newOrganisation();
  await database.db.query(
    `INSERT INTO audit_log (organisation_id, action, actor, source_ip, details)
     SELECT $1, 'workflow.saved', 'operator', '192.0.2.1', json_build_object('workflow_id', n) FROM generate_series(2, $2) n`,
    [id, count],
  );
  await sealAuditLog(database.db);
  const rows = await database.db.query<{ entry_id: number }>(
    'SELECT entry_id FROM audit_seals WHERE organisation_id = $1 ORDER BY position',
    [id],
  );
  return { id, entries: rows.map((row) => row.entry_id) };
}

async function verify(id: number, heads: string[] = []): Promise<Verification> {
  const parsed = heads.flatMap((head) => parseHead(head) ?? []);
  expect(parsed).toHaveLength(heads.length);
  const verification = await verifyAuditLog(database.db, id, { heads: parsed });
  if (verification === null) throw new Error('nothing else verifies');
  return verification;
}

const rewrite = (statement: string, values: readonly unknown[]) =>
  rewriteAuditLog(database.db, statement, values);

describe('a chain that is as it was recorded', () => {
  test('has no problems, and each hash follows the one before', async () => {
    const { id, entries } = await sealed(25);
    expect(entries).toHaveLength(25);
    const { problems, entries: verified, head, dropped } = await verify(id);
    expect({ problems, verified, dropped }).toEqual({ problems: [], verified: 25, dropped: 0 });
    const [first, second] = await database.db.transaction((tx) => listSealsAbove(tx, id, 0, 2));
    if (first === undefined || second === undefined) throw new Error('two were sealed');
    // The form that docs/operations.md describes, spelled out.
    expect(first).toMatchObject({ action: 'organisation.created', position: 1 });
    const one = chainHash(NO_HASH, 1, first as Parameters<typeof chainHash>[2]);
    expect(first.hash).toEqual(one);
    expect(second.hash).toEqual(chainHash(one, 2, second as Parameters<typeof chainHash>[2]));
    expect(
      (await verify(id, [formatHead({ organisationId: id, position: 1, hash: one.toString('hex') })]))
        .problems,
    ).toEqual([]);
    expect(head).toMatchObject({ organisationId: id, position: 25 });
  });

  test('grows by what is recorded later, whoever seals it, and each organisation has its own', async () => {
    const [one, other] = [await sealed(3), await sealed(3)];
    const before = await verify(one.id);
    for (const organisationId of [one.id, other.id, one.id]) {
      await insertAudit(database.db, {
        organisationId,
        action: 'settings.changed',
        by: { actor: 'operator' },
      });
    }
    expect((await verify(one.id)).entries).toBe(3);
    const heads: string[] = [];
    const counts = await Promise.all(
      Array.from({ length: 4 }, () =>
        sealAuditLog(database.db, { onSealed: (ends) => heads.push(...ends.map(formatHead)) }),
      ),
    );
    expect(counts.reduce((a, b) => a + b)).toBe(3);
    expect(heads).toHaveLength(2);
    const after = await verify(one.id, [
      formatHead(before.head ?? raise()),
      ...heads.filter((head) => head.startsWith(`${one.id}:`)),
    ]);
    expect(after).toMatchObject({ entries: 5, problems: [] });
    expect((await verify(other.id)).entries).toBe(4);
  });

  test('an entry that counts repetitions is sealed when its day is over', async () => {
    const organisationId = await newOrganisation();
    const violate = () =>
      recordScopeViolations(database.db, [
        {
          organisationId,
          apiKeyId: 7,
          scope: 'workflows:write',
          method: 'PUT',
          path: '/api/v1/workflows/1',
          sourceIp: '192.0.2.1',
          requestId: 'r',
        },
      ]);
    await violate();
    await sealAuditLog(database.db);
    await violate();
    expect(await verify(organisationId)).toMatchObject({ entries: 1, problems: [] });
    const [row] = await database.db.query<{ due: boolean; repeats: number }>(
      `SELECT a.repeats, p.sealable_at = (date_trunc('day', a.occurred_at AT TIME ZONE 'UTC') + interval '1 day 10 minutes') AT TIME ZONE 'UTC' AS due
       FROM audit_pending p JOIN audit_log a ON a.id = p.entry_id WHERE p.organisation_id = $1`,
      [organisationId],
    );
    expect(row).toEqual({ repeats: 2, due: true });
    await database.db.query('UPDATE audit_pending SET sealable_at = now() WHERE organisation_id = $1', [
      organisationId,
    ]);
    await sealAuditLog(database.db);
    expect(await verify(organisationId)).toMatchObject({ entries: 2, problems: [] });
    await expect(violate()).rejects.toMatchObject({ code: 'MR003' });
  });
});

function raise(): never {
  throw new Error('there is a head');
}

describe('the role of the service', () => {
  test.each([
    ["UPDATE audit_log SET source_ip = '192.0.2.9' WHERE organisation_id = $1"],
    [
      'UPDATE audit_log SET repeats = 2, repeat_key = action, last_occurred_at = now() WHERE organisation_id = $1',
    ],
    ['DELETE FROM audit_log WHERE organisation_id = $1'],
    ['UPDATE audit_seals SET entry_id = -entry_id WHERE organisation_id = $1'],
    ['DELETE FROM audit_seals WHERE organisation_id = $1'],
    ['UPDATE audit_chains SET length = length - 1 WHERE organisation_id = $1'],
    ["UPDATE audit_chains SET head = sha256('x') WHERE organisation_id = $1"],
    // Too young to be deleted by retention.
    [
      `UPDATE audit_chains c SET dropped = 2, dropped_hash = s.hash FROM audit_seals s
       WHERE c.organisation_id = $1 AND s.organisation_id = $1 AND s.position = 2`,
    ],
    ['DELETE FROM audit_chains WHERE organisation_id = $1'],
    ['DELETE FROM organisations WHERE id = $1'],
  ])('is refused: %s', async (statement) => {
    const { id } = await sealed(3);
    await expect(database.db.query(statement, [id])).rejects.toMatchObject({ code: 'MR003' });
    expect(await verify(id)).toMatchObject({ entries: 3, problems: [] });
  });

  test.each(['audit_log', 'audit_seals', 'audit_chains', 'organisations CASCADE'])(
    'is refused: TRUNCATE %s, whatever organisation the transaction is narrowed to',
    async (tables) => {
      const { id } = await sealed(1);
      const truncate = database.db.forOrganisation(id + 1_000, (tx) => tx.query(`TRUNCATE ${tables}`));
      await expect(truncate).rejects.toMatchObject({ code: 'MR003' });
    },
  );

  test('an entry that is not sealed yet is protected as well', async () => {
    const id = await newOrganisation();
    const remove = database.db.query('DELETE FROM audit_log WHERE organisation_id = $1', [id]);
    await expect(remove).rejects.toMatchObject({ code: 'MR003' });
  });

  test('can be one that owns nothing, which is not able to switch the protection off', async () => {
    const role = `service_${randomBytes(6).toString('hex')}`;
    const superuser = createDatabase(database.superuserUrl, { lanes: 1, maxSessions: 1 });
    await superuser.query(`CREATE ROLE ${role} LOGIN PASSWORD '${role}'`);
    const url = new URL(database.url);
    url.username = role;
    url.password = role;
    const service = createDatabase(url.href, { lanes: 1, maxSessions: 2 });
    onTestFinished(async () => {
      await service.close();
      await superuser.query(`DROP OWNED BY ${role}`);
      await superuser.query(`DROP ROLE ${role}`);
      await superuser.close();
    });
    for (const rights of [
      'SELECT, INSERT, UPDATE, DELETE ON ALL TABLES',
      'USAGE, SELECT ON ALL SEQUENCES',
      'EXECUTE ON ALL FUNCTIONS',
    ]) {
      await database.db.query(`GRANT ${rights} IN SCHEMA public TO ${role}`);
    }
    expect(await migrate(service)).toEqual([]);
    const { id } = await createOrganisation(service, role, { actor: 'operator' });
    await sealAuditLog(service);
    expect(await verifyAuditLog(service, id)).toMatchObject({ entries: 1, problems: [] });
    for (const statement of [
      'ALTER TABLE audit_log DISABLE TRIGGER USER',
      'DROP TRIGGER audit_log_protect ON audit_log',
      'TRUNCATE audit_log',
    ]) {
      await expect(service.query(statement)).rejects.toMatchObject({ code: '42501' });
    }
    await expect(service.query('DELETE FROM audit_log')).rejects.toMatchObject({ code: 'MR003' });
  });

  test('what an entry refers to can be deleted; the entry stays as it is', async () => {
    const { id } = await sealed(1);
    const [user] = await database.db.query<{ id: number }>(
      `INSERT INTO users (email, name) VALUES ('gone@example.com', 'Gone') RETURNING id`,
    );
    const userId = user?.id ?? 0;
    const by = { actor: 'user', userId, memberId: null } as const;
    await insertAudit(database.db, { organisationId: id, action: 'user.signed_in', by });
    await sealAuditLog(database.db);
    await database.db.query('DELETE FROM users WHERE id = $1', [userId]);
    expect(await verify(id)).toMatchObject({ entries: 2, problems: [] });
  });
});

describe('what whoever gets around the triggers did is found', () => {
  const problemsOf = async (id: number, heads: string[] = []) => (await verify(id, heads)).problems;

  test('one row that was changed, and one that is missing, with more rows than one statement reads', async () => {
    const { id, entries } = await sealed(2_500);
    const [changed, missing] = [entries[1_234] ?? 0, entries[2_222] ?? 0];
    await rewrite('UPDATE audit_log SET details = \'{"workflow_id":1}\' WHERE id = $1', [changed]);
    const first = { kind: 'entry_changed', entryId: changed, position: 1_235 };
    expect(await verify(id)).toMatchObject({ entries: 2_500, problems: [first], problemCount: 1 });
    await rewrite('DELETE FROM audit_log WHERE id = $1', [missing]);
    const second = { kind: 'entry_missing', entryId: missing, position: 2_223 };
    expect(await verify(id)).toMatchObject({ problems: [first, second], problemCount: 2 });
  });

  test.each([
    ['occurred_at', "occurred_at + interval '1 microsecond'"],
    ['action', "'workflow.deleted'"],
    ['actor', "'service'"],
    ['user_id', '1'],
    ['member_id', '1'],
    ['api_key_id', '1'],
    ['source_ip', 'NULL'],
    ['request_id', "''"],
    // The same JSON value.
    ['details', "(details::text || ' ')::json"],
  ])('a change to %s', async (column, value) => {
    const { id, entries } = await sealed(3);
    await rewrite(`UPDATE audit_log SET ${column} = ${value} WHERE id = $1`, [entries[1]]);
    expect(await problemsOf(id)).toEqual([{ kind: 'entry_changed', entryId: entries[1], position: 2 }]);
  });

  test('an entry that was moved to another organisation', async () => {
    const [one, other] = [await sealed(3), await sealed(3)];
    await rewrite('UPDATE audit_log SET organisation_id = $2 WHERE id = $1', [one.entries[1], other.id]);
    expect(await problemsOf(one.id)).toEqual([
      { kind: 'entry_missing', entryId: one.entries[1], position: 2 },
    ]);
    expect(await problemsOf(other.id)).toEqual([
      { kind: 'entry_added', entryId: one.entries[1], position: null },
    ]);
  });

  test('a hash that was changed, in the middle and at the end', async () => {
    const { id, entries } = await sealed(4);
    for (const position of [2, 4]) {
      await rewrite(
        "UPDATE audit_seals SET hash = sha256('x') WHERE organisation_id = $1 AND position = $2",
        [id, position],
      );
    }
    expect(await problemsOf(id)).toEqual([
      { kind: 'entry_changed', entryId: entries[1], position: 2 },
      { kind: 'entry_changed', entryId: entries[3], position: 4 },
    ]);
  });

  test('an entry that was deleted with its seal, in the middle and at the end', async () => {
    const { id, entries } = await sealed(5);
    for (const entry of [entries[1], entries[4]]) {
      await rewrite('DELETE FROM audit_log WHERE id = $1', [entry]);
      await rewrite('DELETE FROM audit_seals WHERE entry_id = $1', [entry]);
    }
    expect(await problemsOf(id)).toEqual([
      { kind: 'seal_missing', entryId: null, position: 2 },
      { kind: 'seal_missing', entryId: null, position: 5 },
    ]);
  });

  test('an entry that was added without being queued, and one that was deleted before it was sealed', async () => {
    const { id } = await sealed(2);
    const insert = `INSERT INTO audit_log (organisation_id, action, actor) VALUES ($1, 'settings.changed', 'operator')`;
    await rewrite(insert, [id]);
    await database.db.query(insert, [id]);
    const [added, queued] = await database.db.query<{ id: number }>(
      `SELECT id FROM audit_log WHERE organisation_id = $1 AND action = 'settings.changed' ORDER BY id`,
      [id],
    );
    await rewrite('DELETE FROM audit_log WHERE id = $1', [queued?.id]);
    await sealAuditLog(database.db);
    expect(await problemsOf(id)).toEqual([
      { kind: 'entry_missing', entryId: queued?.id, position: null },
      { kind: 'entry_added', entryId: added?.id, position: null },
    ]);
  });

  test('a chain that was rewritten from some entry on is only shown by a head that was kept elsewhere', async () => {
    const { id, entries } = await sealed(4);
    const kept = formatHead((await verify(id)).head ?? raise());
    await rewrite("UPDATE audit_log SET source_ip = '192.0.2.9' WHERE id = $1", [entries[2]]);
    await rewrite(
      'INSERT INTO audit_pending SELECT entry_id, organisation_id, sealed_at FROM audit_seals WHERE organisation_id = $1',
      [id],
    );
    await rewrite('DELETE FROM audit_seals WHERE organisation_id = $1', [id]);
    await rewrite('DELETE FROM audit_chains WHERE organisation_id = $1', [id]);
    await sealAuditLog(database.db);
    expect(await problemsOf(id)).toEqual([]);
    expect(await problemsOf(id, [kept])).toEqual([
      { kind: 'head_differs', entryId: entries[3], position: 4 },
    ]);
    const beyond = formatHead({ organisationId: id, position: 5, hash: 'a'.repeat(64) });
    expect(await problemsOf(id, [beyond])).toEqual([{ kind: 'head_differs', entryId: null, position: 5 }]);
  });
});

test('a head is read as it was printed, and nothing else is one', () => {
  const head = { organisationId: 12, position: 3, hash: '0f'.repeat(32) };
  expect(parseHead(` ${formatHead(head)}\n`)).toEqual(head);
  for (const text of [
    '',
    '1:2',
    `0:1:${head.hash}`,
    `1:0:${head.hash}`,
    `1:1:${head.hash}0`,
    `1:1:${head.hash.toUpperCase()}`,
  ]) {
    expect(parseHead(text)).toBeNull();
  }
});
