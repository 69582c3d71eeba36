import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { addCredential } from '@millrace/credentials/credentials';
import { findSealed } from '@millrace/credentials/store';
import { unsealRow } from '@millrace/credentials/unseal';
import { success } from '@millrace/engine';
import { pauseOrganisation } from '@millrace/identity/organisations/pause';
import { registry } from '@millrace/nodes';
import { settle } from '@millrace/service/pause/settle';
import { keysOfVariable } from '@millrace/testing/secret-keys';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { chainOf, flowOf } from '../../../runtime/test/worker/flows.ts';
import {
  type ExecutionBody,
  startWorkingService,
  type WorkingService,
} from '../../../runtime/test/worker/service-with-worker.ts';
import { backUp } from '../../src/backup/backup.ts';
import { BackupError } from '../../src/backup/errors.ts';
import { restore } from '../../src/backup/restore.ts';
import type { MovedOrganisation, RestoreOptions } from '../../src/backup/restoring.ts';
import { CRM, interruptCall, type SeenCall } from './interrupted-call.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const OPERATOR = { actor: 'operator' } as const;
const KEY = { 'idempotency-key': '6f1f5c1e-0d3c-4a08-9c39-8d3c2c9d8c11' };

/** Both count from 1, and have given out the same ids for other things. */
let source: WorkingService;
let target: WorkingService;
const sourceKeys = keysOfVariable();
const targetKeys = keysOfVariable();
const calls: SeenCall[] = [];
let former: {
  readonly child: number;
  readonly parent: number;
  readonly credential: number;
  /** Executions. */
  readonly waiting: number;
  readonly replayed: number;
};
let receipt: string;
/** One of several parts, and one without a byte. */
const contents = [Buffer.alloc(2_500_000, 'millrace '), Buffer.alloc(0)];
let fileIds: string[];
let theirs: number;
let moved: MovedOrganisation;

async function backUpOrganisation(
  { database: { db: from }, deps: { store } }: WorkingService,
  keys: typeof sourceKeys,
  id: number,
): Promise<Buffer> {
  const out = new PassThrough();
  const bytes = buffer(out);
  await backUp(from, keys, out, {
    productVersion: '1.2.3',
    passphrase: null,
    withKeys: true,
    organisationId: id,
    store,
  });
  return bytes;
}

async function restoreInto(
  { database: { db }, deps: { store } }: WorkingService,
  bytes: Buffer,
  more: Partial<RestoreOptions> = {},
): Promise<MovedOrganisation> {
  const { organisation } = await restore(db, Readable.from([bytes]), {
    askPassphrase: () => Promise.reject(new BackupError('backup_passphrase', 'asked')),
    placeKeys: async () => {},
    keys: { own: targetKeys, given: [] },
    isPaused: false,
    registry,
    files: { store, freeDiskBytes: 0 },
    ...more,
  });
  if (organisation === undefined) throw new Error('not an organisation');
  return organisation;
}

/** Starts a parent whose child is in the middle of a call, and an execution with an Idempotency-Key. */
async function work(): Promise<void> {
  const { db } = source.database;
  const { organisationId } = source.key;
  const begun = interruptCall(source, target, calls);
  const { id: credential } = await addCredential(
    { db, keys: sourceKeys },
    { ...CRM, organisationId },
    OPERATOR,
  );
  const child = await source.createWorkflow(chainOf('first', 'second'));
  const parent = await source.createWorkflow(
    flowOf(
      [
        ['call', 'flow.call', { config: { workflow_id: child, input: { workflow_id: child } } }],
        ['set', 'core.set', { config: { values: { id: '{{execution.id}}' } } }],
      ],
      ['start>call', 'call>set'],
      { error_workflow_id: child },
    ),
  );
  const waiting = await source.execute(parent);
  await begun;
  const quick = await source.createWorkflow(chainOf('first'));
  const started = await source.api('POST', `/workflows/${quick}/execute`, {
    key: source.key,
    body: {},
    headers: KEY,
  });
  receipt = started.text;
  await source.finished(started.json.execution_id);
  const saved = await Promise.all(
    contents.map((content) =>
      source.deps.files.save(
        { organisationId, executionId: waiting, name: 'a.txt', type: 'text/plain', declaredBytes: null },
        Readable.from([content]),
      ),
    ),
  );
  fileIds = saved.map(({ $file }) => $file);
  const isParked = async () =>
    (await db.query(`SELECT FROM executions WHERE id = $1 AND status = 'waiting_async'`, [waiting]))
      .length === 1;
  await vi.waitUntil(isParked, { timeout: 60_000 });
  former = { child, parent, credential, waiting, replayed: started.json.execution_id };
}

beforeAll(async () => {
  [source, target] = await Promise.all([startWorkingService(), startWorkingService()]);
  target.behaviours.set('first', () => success({ done: 'theirs' }));
  for (let count = 0; count < 4; count += 1) {
    theirs = await target.createWorkflow(chainOf('first'));
    await target.finished(await target.execute(theirs));
  }
  await work();
  const { db } = source.database;
  const { organisationId } = source.key;
  await db.query(
    `WITH rule AS (
       INSERT INTO alert_rules (organisation_id, name, kind, workflow_id, seconds, channel, target, language, group_seconds)
       VALUES ($1, 'silent', 'silent', $2, 60, 'chat', json_build_object('credential_id', $3::bigint), 'en', 0) RETURNING id
     ), mark AS (
       INSERT INTO alert_marks (rule_id, mark, organisation_id) SELECT id, 'credential:' || $3::bigint || ' 1700000000', $1 FROM rule
     )
     INSERT INTO alert_incidents (organisation_id, rule_id, subject, name, workflow_id, occurrences, first_at, last_at)
     SELECT $1, id, 'workflow:' || $2::bigint, 'parent', $2, 1, now(), now() FROM rule`,
    [organisationId, former.parent, former.credential],
  );
  await pauseOrganisation(db, organisationId, OPERATOR);
  await settle(db, organisationId, 0);
  const bytes = await backUpOrganisation(source, sourceKeys, organisationId);
  const refused = restoreInto(target, bytes, { name: 'Moved', keepsIds: true });
  await expect(refused).rejects.toMatchObject({ code: 'restore_clash' });
  // All or nothing, also of files: a backup that ends early leaves none.
  const cut = restoreInto(target, bytes.subarray(0, bytes.length - 200), { name: 'Moved' });
  await expect(cut).rejects.toMatchObject({ code: 'backup_damaged' });
  expect(await target.database.db.query('SELECT FROM files')).toEqual([]);
  for (const [index, id] of fileIds.entries()) {
    const left = target.deps.store.read(id, contents[index]?.length ?? 0);
    await expect(left).rejects.toMatchObject({ code: 'file_missing' });
  }
  moved = await restoreInto(target, bytes, { name: 'Moved' });
});
afterAll(() => Promise.all([source.stop(), target.stop()]));

/** Requests with the keys that came with the organisation. */
function asMoved(method: 'GET' | 'POST' | 'PUT', path: string, more: object = {}, at = target) {
  return at.api(method, path, { key: source.key, ...more });
}

async function readExecution(
  id: number,
  at = target,
): Promise<ExecutionBody & { readonly workflow_id: number }> {
  return (await asMoved('GET', `/executions/${id}`, {}, at)).json as never;
}

interface WorkflowBody {
  readonly id: number;
  readonly version: number;
  readonly flow_data: {
    readonly nodes: { readonly data: { config: { workflow_id?: number } } }[];
    readonly settings: { error_workflow_id?: number };
  };
}

async function readWorkflow(id: number, at = target): Promise<WorkflowBody> {
  return (await asMoved('GET', `/workflows/${id}`, {}, at)).json as never;
}

describe('an organisation whose ids are taken where it goes', () => {
  test('gets ids beyond those that either instance has given out', async () => {
    expect(moved.name).toBe('Moved');
    for (const kind of ['workflows', 'executions', 'credentials'] as const) {
      const change = moved.renumbered.find((each) => each.kind === kind);
      if (kind === 'credentials') continue;
      expect(change?.shift).toBeGreaterThanOrEqual(change?.lastFormer ?? Number.NaN);
      const [mixed] = await target.database.db.query<{ count: number }>(
        `SELECT count(*) AS count FROM ${kind} WHERE organisation_id = $1 AND id <= $2`,
        [moved.id, change?.shift],
      );
      expect(mixed?.count).toBe(0);
    }
  });

  test('goes on with what was under way: the parent hears of its child, and no call has another key', async () => {
    await expect
      .poll(async () => (await readExecution(former.waiting)).status, { timeout: 60_000 })
      .toBe('completed');
    expect(calls).toEqual([
      { at: 'source', key: calls[0]?.key },
      { at: 'target', key: calls[0]?.key },
    ]);
    const parent = await readExecution(former.waiting);
    expect(parent.id).toBeGreaterThan(former.waiting);
    const { call, set } = parent.node_outputs;
    expect(call?.output).toMatchObject({ status: 'completed' });
    // What a template gave before the move, it gives after it.
    expect(set?.output).toEqual({ id: former.waiting });
    const child = await readExecution(Number(call?.output.execution_id));
    expect(child).toMatchObject({ id: parent.children[0]?.execution_id, status: 'completed' });
  });

  test('is found by its former ids with its own keys, and only with those', async () => {
    const { id } = await readWorkflow(former.parent);
    expect(id).toBeGreaterThan(former.parent);
    expect(await readWorkflow(id)).toEqual(await readWorkflow(former.parent));
    const listed = await asMoved('GET', `/executions?workflow_id=${former.parent}`);
    expect(listed.json.data).toMatchObject([{ workflow_id: id }]);
    // The ids belong to others here, who still find what they had.
    const own = await target.api('GET', `/workflows/${theirs}`, { key: target.key });
    expect(own.json.id).toBe(theirs);
    const strange = await target.api('GET', `/workflows/${id}`, { key: target.key });
    expect(strange.status).toBe(404);
  });

  test('replays what was started with an Idempotency-Key, under the former path and the present one', async () => {
    const { workflow_id: quick } = await readExecution(former.replayed);
    const [{ id: formerQuick } = { id: 0 }] = await source.database.db.query<{ id: number }>(
      'SELECT workflow_id AS id FROM executions WHERE id = $1',
      [former.replayed],
    );
    for (const id of [formerQuick, quick]) {
      const replay = await asMoved('POST', `/workflows/${id}/execute`, { body: {}, headers: KEY });
      expect(replay).toMatchObject({ status: 202, text: receipt });
      expect(replay.headers.get('idempotent-replayed')).toBe('true');
    }
  });

  test('has flows that name what they named, and takes those that clients still have', async () => {
    const { version, flow_data: flow } = await readWorkflow(former.parent);
    const child = (await readWorkflow(former.child)).id;
    // Only what the schema says is an id; the input is somebody's data.
    expect(flow.nodes[1]?.data.config).toMatchObject({
      workflow_id: child,
      input: { workflow_id: former.child },
    });
    expect(flow.settings.error_workflow_id).toBe(child);
    const old = structuredClone(flow);
    Object.assign(old.nodes[1]?.data.config ?? {}, { workflow_id: former.child });
    old.settings.error_workflow_id = former.child;
    const saved = await asMoved('PUT', `/workflows/${former.parent}`, { body: { flow_data: old } });
    expect(saved.json).toMatchObject({ version, flow_data: flow });
  });

  test('opens its credentials by either id, under the key of the other instance', async () => {
    const { db } = target.database;
    const row = await findSealed(db, moved.id, former.credential);
    if (row === undefined) throw new Error('the credential is not there');
    expect(await unsealRow(targetKeys, row)).toContain('canary-token');
    const [rule] = await db.query(
      `SELECT (r.target ->> 'credential_id')::bigint AS credential, i.subject, i.workflow_id, m.mark FROM alert_rules r
       JOIN alert_incidents i ON i.rule_id = r.id JOIN alert_marks m ON m.rule_id = r.id WHERE r.organisation_id = $1`,
      [moved.id],
    );
    const parent = (await readWorkflow(former.parent)).id;
    expect(rule).toEqual({
      credential: row.id,
      subject: `workflow:${parent}`,
      workflow_id: parent,
      mark: `credential:${row.id} 1700000000`,
    });
  });

  test('has its files with their content, counted once', async () => {
    for (const [index, id] of fileIds.entries()) {
      const { waiting } = former;
      const present = (await readExecution(waiting)).id;
      const file = await target.deps.files.findOf(moved.id, present, id);
      if (file === undefined) throw new Error('the file is not there');
      const content = await buffer(await target.deps.files.open(file));
      expect(content.equals(contents[index] ?? Buffer.of(0))).toBe(true);
    }
    const usage = await target.database.db.query(
      'SELECT files, bytes FROM file_usage WHERE organisation_id = $1',
      [moved.id],
    );
    expect(usage).toEqual([{ files: 2, bytes: 2_500_000 }]);
  });

  test('gives nobody an id that means something else', async () => {
    const { json } = await asMoved('POST', `/workflows/${former.child}/execute`, { body: {} });
    const executions = moved.renumbered.find(({ kind }) => kind === 'executions');
    expect(json.execution_id).toBeGreaterThan((executions?.shift ?? 0) + (executions?.lastFormer ?? 0));
    await target.finished(await target.execute(theirs));
  });

  test('is still found by its first ids after another move', async () => {
    const { db } = target.database;
    const before = (await readWorkflow(former.parent)).id;
    await pauseOrganisation(db, moved.id, OPERATOR);
    await settle(db, moved.id, 0);
    const bytes = await backUpOrganisation(target, targetKeys, moved.id);
    const third = await startWorkingService({ withWorker: false });
    try {
      const other = await third.createWorkflow(chainOf('first'));
      await third.database.db.query(`SELECT setval('workflows_id_seq', 1000), setval('execution_ids', 1000)`);
      const again = await restoreInto(third, bytes, { name: 'Again' });
      expect(again.renumbered).not.toEqual([]);
      const { id } = await readWorkflow(former.parent, third);
      expect(id).toBeGreaterThan(1000);
      expect((await readWorkflow(before, third)).id).toBe(id);
      const execution = await readExecution(former.waiting, third);
      expect(execution).toMatchObject({ status: 'completed', workflow_id: id });
      expect((await third.api('GET', `/workflows/${other}`, { key: third.key })).json.id).toBe(other);
    } finally {
      await third.stop();
    }
  });
});
