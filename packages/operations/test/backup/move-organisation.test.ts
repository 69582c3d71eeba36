import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { addCredential } from '@millrace/credentials/credentials';
import { findSealed } from '@millrace/credentials/store';
import { unsealRow } from '@millrace/credentials/unseal';
import type { PgDatabase } from '@millrace/database/pool';
import { pauseOrganisation } from '@millrace/identity/organisations/pause';
import { secondFactorOf } from '@millrace/identity/users/second-factor';
import { registry } from '@millrace/nodes';
import type { SecretKeys } from '@millrace/secrets/keys';
import { settle } from '@millrace/service/pause/settle';
import { createPerson } from '@millrace/testing/admin';
import { keysOfVariable } from '@millrace/testing/secret-keys';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { chainOf, flowOf } from '../../../runtime/test/worker/flows.ts';
import {
  startWorkingService,
  type WorkingService,
} from '../../../runtime/test/worker/service-with-worker.ts';
import { backUp } from '../../src/backup/backup.ts';
import { BackupError } from '../../src/backup/errors.ts';
import { restore } from '../../src/backup/restore.ts';
import type { RestoreOptions, RestoreSummary } from '../../src/backup/restoring.ts';
import { CRM, interruptCall, type SeenCall } from './interrupted-call.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const EVE = 'eve@example.com';
const FRANK = 'frank@example.com';
const OPERATOR = { actor: 'operator' } as const;
/** More than the target has given out, so that ids can be kept. */
const FIRST_KEPT_ID = 5_000;

let source: WorkingService;
let target: WorkingService;
let sourceKeys: SecretKeys;
let targetKeys: SecretKeys;
beforeAll(async () => {
  [source, target] = await Promise.all([startWorkingService(), startWorkingService()]);
  sourceKeys = keysOfVariable();
  targetKeys = keysOfVariable();
  for (const sequence of ['workflows_id_seq', 'credentials_id_seq', 'execution_ids']) {
    await source.database.db.query('SELECT setval($1::regclass, $2)', [sequence, FIRST_KEPT_ID]);
  }
  // Both have given out the ids of everything else.
  for (let count = 0; count < 5; count += 1) await target.createKey();
  await createPerson(target, 'editor');
});
afterAll(() => Promise.all([source.stop(), target.stop()]));

const ASKING = `SELECT FROM executions WHERE workflow_id = $1 AND status = 'waiting_async'`;
const refusal = (code: string) => expect.objectContaining({ name: 'BackupError', code });

function backUpOrganisation(id: number, withKeys = false): Promise<Buffer> {
  const out = new PassThrough();
  const bytes = buffer(out);
  const options = { productVersion: '1.2.3', passphrase: null, withKeys, organisationId: id, store: null };
  return backUp(source.database.db, sourceKeys, out, options).then(() => bytes);
}

function restoreInto(
  db: PgDatabase,
  bytes: Buffer,
  more: Partial<RestoreOptions> = {},
): Promise<RestoreSummary> {
  return restore(db, Readable.from([bytes]), {
    askPassphrase: () => Promise.reject(new BackupError('backup_passphrase', 'asked')),
    placeKeys: async () => {},
    keys: { own: targetKeys, given: [] },
    isPaused: false,
    registry,
    files: null,
    ...more,
  });
}

async function countIn(db: PgDatabase): Promise<unknown> {
  return await db.query(
    `SELECT (SELECT count(*) FROM organisations) AS organisations, (SELECT count(*) FROM executions) AS executions,
       (SELECT count(*) FROM users) AS users, (SELECT count(*) FROM data_entries) AS entries`,
  );
}

test('an organisation that is not paused is not backed up', async () => {
  await expect(backUpOrganisation(source.key.organisationId)).rejects.toEqual(
    refusal('organisation_not_paused'),
  );
});

describe('an organisation that moves', () => {
  const calls: SeenCall[] = [];
  let bytes: Buffer;
  let ids: Readonly<Record<'held' | 'asking' | 'failed' | 'credential', number>>;
  let workflowId: number;
  let summary: RestoreSummary;

  beforeAll(async () => {
    const { db } = source.database;
    const { organisationId } = source.key;
    const begun = interruptCall(source, target, calls);
    source.behaviours.set('broken', () => {
      throw new Error('broken');
    });
    workflowId = await source.createWorkflow(chainOf('first', 'second'));
    const asking = flowOf(
      [['ask', 'wait.approval', { config: { title: 'Go on?', text: 'Really?' } }]],
      ['start>ask'],
    );
    const askingId = await source.createWorkflow(asking);
    const broken = {
      ...chainOf('broken'),
      settings: { error_workflow_id: askingId, search_keys: { which: 'the broken one' } },
    };
    ids = {
      held: await source.execute(workflowId),
      asking: await source.execute(askingId),
      failed: await source.execute(await source.createWorkflow(broken)),
      credential: (await addCredential({ db, keys: sourceKeys }, { ...CRM, organisationId }, OPERATOR)).id,
    };
    await begun;
    await source.finished(ids.failed);
    // The one that was started, and the one that the failure has started.
    const areAsking = async () => (await db.query(ASKING, [askingId])).length === 2;
    await vi.waitUntil(areAsking, { timeout: 60_000 });
    await addPeople(organisationId);
    await db.query(
      `INSERT INTO data_entries (organisation_id, key, value) SELECT $1, 'entry ' || n, '1' FROM generate_series(1, 10) n`,
      [organisationId],
    );
    await db.query(
      `WITH outer_folder AS (INSERT INTO workflow_folders (organisation_id, name) VALUES ($1, 'outer') RETURNING id),
         inner_folder AS (INSERT INTO workflow_folders (organisation_id, parent_id, name) SELECT $1, id, 'inner' FROM outer_folder RETURNING id)
       UPDATE workflows SET folder_id = (SELECT id FROM inner_folder) WHERE id = $2`,
      [organisationId, workflowId],
    );
    await db.query(
      `INSERT INTO execution_views (organisation_id, user_id, name, is_shared, filters)
       SELECT $1, id, 'by key', true, json_build_object('key', (SELECT min(id) FROM api_keys WHERE organisation_id = $1))
       FROM users WHERE email = 'ada@example.com'`,
      [organisationId],
    );
    await pauseOrganisation(db, organisationId, OPERATOR);
    expect(await settle(db, organisationId, 0)).toEqual({ takenBack: 1 });
    bytes = await backUpOrganisation(organisationId);
    const before = await countIn(target.database.db);
    await expect(restoreInto(target.database.db, bytes)).rejects.toEqual(refusal('restore_key'));
    expect(await countIn(target.database.db)).toEqual(before);
    const given = [await sourceKeys.own()];
    summary = await restoreInto(target.database.db, bytes, { keys: { own: targetKeys, given } });
  });

  /**
   * Ada moves with a second factor; Bob has an account there already; Carol has only saved a workflow; Dan moves and is demoted. Eve's account there
   * hasn't proved its address, and Frank's where he comes from hasn't.
   */
  async function addPeople(organisationId: number): Promise<void> {
    const { db } = source.database;
    const ada = await createPerson(source, 'editor', { organisationId, email: 'ada@example.com' });
    await createPerson(source, 'viewer', { organisationId, email: 'bob@example.com' });
    await createPerson(source, 'system_admin', { organisationId, email: 'dan@example.com' });
    const carol = await createPerson(source, 'system_admin', { email: 'carol@example.com' });
    await createPerson(target, 'viewer', { email: 'bob@example.com' });
    for (const email of [EVE, FRANK]) {
      const { userId } = await createPerson(source, 'editor', { organisationId, email });
      await createPerson(target, 'viewer', { email });
      await db.query(
        `WITH key AS (
           INSERT INTO api_keys (organisation_id, key_id, family_id, name, scopes, secret_hash, last_four, issued_by_user)
           SELECT $1, rpad(split_part(email, '@', 1), 12, 'x'), gen_random_uuid(), email, '{executions:read}', sha256(email::bytea), '0000', id
           FROM users WHERE id = $2)
         INSERT INTO invitations (organisation_id, token_hash, role, invited_by, expires_at)
         SELECT $1, sha256(email::bytea), 'viewer', id, now() + interval '1 day' FROM users WHERE id = $2`,
        [organisationId, userId],
      );
    }
    await unprove(target, EVE);
    await unprove(source, FRANK);
    await db.transaction(async (tx) => {
      const { keyId, ciphertext } = await sourceKeys.seal(tx, 'FACTOR', secondFactorOf(ada.userId));
      await tx.query(
        `UPDATE users SET totp_key_id = $2, totp_ciphertext = $3, totp_confirmed_at = now(), password_hash = 'hash of ada' WHERE id = $1`,
        [ada.userId, keyId, ciphertext],
      );
      await tx.query(`UPDATE users SET password_hash = 'hash of carol' WHERE id = $1`, [carol.userId]);
      await tx.query('UPDATE workflow_versions SET user_id = $2 WHERE workflow_id = $1', [
        workflowId,
        carol.userId,
      ]);
    });
  }

  const unprove = ({ database }: WorkingService, email: string) =>
    database.db.query('UPDATE users SET email_verified_at = NULL WHERE email = $1', [email]);

  test('goes on there, and only there, without repeating what had ended', async () => {
    expect(summary.organisation).toMatchObject({ accounts: 2, demoted: 1 });
    expect(summary.organisation?.id).not.toBe(source.key.organisationId);
    const read = async (id: number) =>
      (
        await target.database.db.query<{ status: string }>('SELECT status FROM executions WHERE id = $1', [
          id,
        ])
      )[0]?.status;
    await expect.poll(() => read(ids.held), { timeout: 60_000 }).toBe('completed');
    expect(calls).toEqual([
      { at: 'source', key: calls[0]?.key },
      { at: 'target', key: calls[0]?.key },
    ]);
    expect(await read(ids.asking)).toBe('waiting_async');
    expect((await source.read(ids.held)).status).toBe('queued');
  });

  test('accepts its API keys under its ids, and shows what had been', async () => {
    const { key } = source;
    const failed = await target.api('GET', `/executions/${ids.failed}`, { key });
    expect(failed).toMatchObject({ status: 200, json: { status: 'failed' } });
    const started = await target.api('POST', `/workflows/${workflowId}/execute`, { key, body: {} });
    expect(started.status).toBe(202);
    expect(Number(started.json.execution_id)).toBeGreaterThan(ids.failed);
    const other = await target.api('GET', `/executions/${ids.failed}`, { key: target.key });
    expect(other.status).toBe(404);
  });

  test('has its secrets under the key of the other instance', async () => {
    const { db } = target.database;
    const row = await findSealed(db, summary.organisation?.id ?? 0, ids.credential);
    if (row === undefined) throw new Error('the credential is not there');
    expect(row.key_id).toBe((await targetKeys.own()).id);
    expect(await unsealRow(targetKeys, row)).toContain('canary-token');
    const [ada] = await db.query<{ id: number; totp_ciphertext: Buffer }>(
      `SELECT id, totp_ciphertext FROM users WHERE email = 'ada@example.com'`,
    );
    expect(
      await targetKeys.unseal(ada?.totp_ciphertext ?? Buffer.alloc(0), secondFactorOf(ada?.id ?? 0)),
    ).toBe('FACTOR');
  });

  test('brings the accounts of its members, and nobody who administers the other instance', async () => {
    const { db } = target.database;
    const people = await db.query(
      `SELECT u.email, u.password_hash, u.removed_at IS NOT NULL AS is_removed, m.role FROM users u
       LEFT JOIN members m ON m.email = u.email AND m.organisation_id = $1
       WHERE u.email ~ '^(ada|bob|carol|dan)@' ORDER BY u.email`,
      [summary.organisation?.id],
    );
    expect(people).toEqual([
      { email: 'ada@example.com', password_hash: 'hash of ada', is_removed: false, role: 'editor' },
      { email: 'bob@example.com', password_hash: null, is_removed: false, role: 'viewer' },
      { email: 'carol@example.com', password_hash: null, is_removed: true, role: null },
      { email: 'dan@example.com', password_hash: null, is_removed: false, role: 'org_admin' },
    ]);
    const [version] = await db.query(
      'SELECT u.email FROM workflow_versions v JOIN users u ON u.id = v.user_id WHERE workflow_id = $1',
      [workflowId],
    );
    expect(version).toEqual({ email: 'carol@example.com' });
  });

  test('makes nobody a member, and keeps no key, by an address that was not proved', async () => {
    const { db } = target.database;
    expect(summary.organisation).toMatchObject({ unproved: [EVE], revokedKeys: 1 });
    const members = await db.query(
      `SELECT email, removed_at IS NOT NULL AS is_removed FROM members
       WHERE organisation_id = $1 AND email = ANY ($2) ORDER BY email`,
      [summary.organisation?.id, [EVE, FRANK]],
    );
    expect(members).toEqual([
      { email: EVE, is_removed: true },
      { email: FRANK, is_removed: false },
    ]);
    const issued = await db.query(
      `SELECT k.name, k.revoked_at IS NOT NULL AS is_key_revoked, i.revoked_at IS NOT NULL AS is_invitation_revoked
       FROM api_keys k JOIN invitations i ON i.invited_by = k.issued_by_user AND i.organisation_id = k.organisation_id
       WHERE k.organisation_id = $1 AND k.name = ANY ($2) ORDER BY k.name`,
      [summary.organisation?.id, [EVE, FRANK]],
    );
    expect(issued).toEqual([
      { name: EVE, is_key_revoked: false, is_invitation_revoked: false },
      { name: FRANK, is_key_revoked: true, is_invitation_revoked: true },
    ]);
  });

  test('leaves nothing that had been done to be done again, and counts what it stores', async () => {
    const { db } = target.database;
    const id = summary.organisation?.id;
    const followUps = await db.query('SELECT FROM execution_follow_ups WHERE execution_id = $1', [
      ids.failed,
    ]);
    expect(followUps).toEqual([]);
    const byErrors = await db.query(
      `SELECT FROM executions WHERE organisation_id = $1 AND trigger_type = 'error'`,
      [id],
    );
    expect(byErrors).toHaveLength(1);
    const usage = await db.query('SELECT entries FROM data_usage WHERE organisation_id = $1', [id]);
    expect(usage).toEqual([{ entries: 10 }]);
    const [entry] = await db.query<{ details: string }>(
      `SELECT details::text FROM audit_log WHERE organisation_id = $1 AND action = 'organisation.restored'`,
      [id],
    );
    expect(JSON.parse(entry?.details ?? '{}')).toMatchObject({ former_id: source.key.organisationId });
  });

  test('keeps what refers to rows with new ids: folders, and the audit log', async () => {
    const { db } = target.database;
    const [folders] = await db.query(
      `SELECT i.name AS inner_name, o.name AS outer_name FROM workflows w JOIN workflow_folders i ON i.id = w.folder_id
       JOIN workflow_folders o ON o.id = i.parent_id WHERE w.id = $1`,
      [workflowId],
    );
    expect(folders).toEqual({ inner_name: 'inner', outer_name: 'outer' });
    const strangers = await db.query(
      `SELECT a.action FROM audit_log a LEFT JOIN members m ON m.id = a.member_id LEFT JOIN api_keys k ON k.id = a.api_key_id
       WHERE a.organisation_id = $1
         AND (m.organisation_id IS DISTINCT FROM (CASE WHEN a.member_id IS NOT NULL THEN $1 END)
           OR k.organisation_id IS DISTINCT FROM (CASE WHEN a.api_key_id IS NOT NULL THEN $1 END))`,
      [summary.organisation?.id],
    );
    expect(strangers).toEqual([]);
  });

  test('finds executions by their search keys, and shows saved views with the keys they name', async () => {
    const { db } = target.database;
    const id = summary.organisation?.id;
    const found = await db.query(
      `SELECT execution_id FROM execution_search_keys WHERE organisation_id = $1 AND value = 'the broken one'`,
      [id],
    );
    expect(found).toEqual([{ execution_id: ids.failed }]);
    const views = await db.query(
      `SELECT v.name, k.organisation_id, u.email FROM execution_views v JOIN users u ON u.id = v.user_id
       JOIN api_keys k ON k.id = (v.filters ->> 'key')::bigint WHERE v.organisation_id = $1`,
      [id],
    );
    expect(views).toEqual([{ name: 'by key', organisation_id: id, email: 'ada@example.com' }]);
  });

  test('is refused a second time, and by the instance that it comes from', async () => {
    const given = [await sourceKeys.own()];
    const before = await countIn(target.database.db);
    for (const { database } of [target, source]) {
      const again = restoreInto(database.db, bytes, { keys: { own: targetKeys, given } });
      await expect(again).rejects.toEqual(refusal('restore_clash'));
    }
    expect(await countIn(target.database.db)).toEqual(before);
  });
});

describe('a backup of an organisation', () => {
  let bytes: Buffer;
  beforeAll(async () => {
    const { organisationId } = await source.createKey();
    const db = source.database.db;
    await db.query('UPDATE organisations SET name = $2 WHERE id = $1', [organisationId, 'Taken']);
    await pauseOrganisation(db, organisationId, OPERATOR);
    bytes = await backUpOrganisation(organisationId, true);
  });
  beforeEach(() => target.database.db.query(`UPDATE organisations SET name = 'Other' WHERE name = 'Taken'`));

  test('is refused by an instance that has one of the same name', async () => {
    await target.database.db.query('UPDATE organisations SET name = $2 WHERE id = $1', [
      target.key.organisationId,
      'Taken',
    ]);
    const failure = await restoreInto(target.database.db, bytes).catch((error: unknown) => error);
    expect(failure).toEqual(refusal('restore_clash'));
    expect(String(failure)).toContain('already has an organisation named "Taken"');
  });

  test('leaves nothing if it is damaged', async () => {
    const before = await countIn(target.database.db);
    const half = restoreInto(target.database.db, bytes.subarray(0, bytes.length - 100));
    await expect(half).rejects.toEqual(refusal('backup_damaged'));
    expect(await countIn(target.database.db)).toEqual(before);
  });

  test('stays paused where it is restored if that is wanted', async () => {
    const { organisation } = await restoreInto(target.database.db, bytes, { isPaused: true });
    const rows = await target.database.db.query(
      'SELECT name FROM organisations WHERE id = $1 AND paused_at IS NOT NULL',
      [organisation?.id],
    );
    expect(rows).toEqual([{ name: 'Taken' }]);
  });
});
