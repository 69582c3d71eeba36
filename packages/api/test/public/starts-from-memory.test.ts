import type { AddressInfo } from 'node:net';
import { buildApp } from '@millrace/api/app';
import { DatabaseUnavailableError } from '@millrace/database/errors';
import { addMember, removeMember } from '@millrace/identity/members/store';
import { NO_EXECUTOR } from '@millrace/runtime/executor';
import { RUNNABLE_FLOW } from '@millrace/testing/flows';
import { startTestService, type TestKey, type TestService } from '@millrace/testing/service';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';

const STRICT_FLOW = {
  ...RUNNABLE_FLOW,
  settings: {
    input_schema: { type: 'object', required: ['amount'], properties: { amount: { type: 'number' } } },
  },
};

/** A start whose key and workflow were looked up shortly before is only stored; the insert checks that nothing has changed since. */
let service: TestService;
let key: TestKey;
let member: { readonly id: number; readonly email: string };
let workflowId: number;
let sent: string[] = [];
let members = 0;
let refuseNext: Error | null = null;
let stopped: { mockRestore(): void } | undefined;

beforeAll(async () => {
  service = await startTestService({ runsWorker: false, limits: { failedAuthPerMinutePerIp: 0 } });
  const { db } = service.database;
  const query = db.query.bind(db);
  vi.spyOn(db, 'query').mockImplementation((text, values, name) => {
    sent.push(name ?? '');
    const refusal = refuseNext;
    refuseNext = null;
    return (refusal === null ? query(text, values, name) : Promise.reject(refusal)) as never;
  });
});
afterAll(() => service.stop());

beforeEach(async () => {
  const organisationId = await service.createOrganisation();
  members += 1;
  const email = `editor-${members}@example.com`;
  const { id } = await addMember(service.database.db, organisationId, email, 'editor', { actor: 'operator' });
  member = { id, email };
  key = await service.createKey({ organisationId, issuedBy: id });
  const body = { name: 'remembered', flow_data: RUNNABLE_FLOW };
  const created = await service.api('POST', '/workflows', { key, body });
  workflowId = Number(created.json.id);
});
afterEach(() => stopped?.mockRestore());

const run = (sql: string, ...values: unknown[]) => service.database.db.query(sql, values);
const execute = (body: unknown = {}, headers: Readonly<Record<string, string>> = {}) =>
  service.api('POST', `/workflows/${workflowId}/execute`, { key, body, headers });
const update = (change: unknown) => service.api('PUT', `/workflows/${workflowId}`, { key, body: change });

async function statementsOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  sent = [];
  await work();
  return sent;
}

/**
 * Starts until one needs nothing but its insert, and stops the process's clock where it was before that, so that nothing gets too old to be used,
 * however busy the machine is.
 */
async function remember(body: unknown = {}): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const now = performance.now();
    const names = await statementsOf(() => execute(body));
    if (!names.includes('insert_executions_permitted') || names.includes('reserve_ids_ahead')) continue;
    stopped = vi.spyOn(performance, 'now').mockReturnValue(now);
    return;
  }
  throw new Error('no start was answered from memory');
}

async function countStarts(): Promise<number | undefined> {
  const [row] = await service.database.db.query<{ count: number }>(
    'SELECT count(*) AS count FROM executions WHERE workflow_id = $1',
    [workflowId],
  );
  return row?.count;
}

test('a start is one statement', async () => {
  await remember();
  const names = await statementsOf(() => execute());
  // The start doesn't wait for that: it is for later ones.
  expect(names.filter((name) => name !== 'reserve_ids_ahead')).toEqual(['insert_executions_permitted']);
});

test('it is stored as others are, with the key, the workflow and the time of the database', async () => {
  const first = await execute({ input_data: { amount: 1 } });
  await remember();
  const last = await execute({ input_data: { amount: 1 } });
  const stored = async (id: unknown) => {
    const [row] = await service.database.db.query<{ stored: string; late: boolean }>(
      `SELECT to_jsonb(e) - ARRAY['id', 'created_at', 'started_at', 'completed_at', 'first_records_at', 'display_name'] AS stored,
         created_at > now() OR created_at < now() - interval '1 minute' AS late
       FROM executions e WHERE id = $1`,
      [id],
    );
    return row;
  };
  const before = await stored(first.json.execution_id);
  expect(before?.late).toBe(false);
  expect(await stored(last.json.execution_id)).toEqual(before);
});

test('a process that is busy running looks up, so that it accepts no more than it can run', async () => {
  const executor = { ...NO_EXECUTOR, isBusy: () => true };
  const busy = buildApp({ ...service.deps, executor });
  const names = await statementsOf(async () => {
    for (let index = 0; index < 10; index += 1) {
      const url = `/api/v1/workflows/${workflowId}/execute`;
      const headers = { authorization: `Bearer ${key.text}` };
      const { statusCode } = await busy.inject({ method: 'POST', url, headers, payload: {} });
      expect(statusCode).toBe(202);
    }
  });
  await busy.close();
  expect(names.filter((name) => name === 'look_up_starts').length).toBe(10);
  expect(names).not.toContain('insert_executions_permitted');
});

test('nothing is remembered of before the database was away', async () => {
  await remember();
  const { db } = service.database;
  const away = new DatabaseUnavailableError('away');
  const read = vi.spyOn(db, 'readForOrganisation').mockRejectedValue(away);
  // The key is looked up meanwhile.
  refuseNext = away;
  expect((await service.api('GET', '/executions/1', { key })).status).toBe(503);
  read.mockRestore();
  expect(await statementsOf(() => execute())).toContain('find_keys_for_authentication');
});

const CHANGES: { readonly [what: string]: [change: () => Promise<unknown>, status: number, code: string] } = {
  'a revoked key': [
    () => run('UPDATE api_keys SET revoked_at = now() WHERE id = $1', key.id),
    401,
    'key_revoked',
  ],
  'a locked key': [
    () => run('UPDATE api_keys SET locked_at = now() WHERE id = $1', key.id),
    401,
    'key_locked',
  ],
  'an expired key': [
    () => run('UPDATE api_keys SET expires_at = now() WHERE id = $1', key.id),
    401,
    'key_expired',
  ],
  'a key that was rotated long ago': [
    () => run(`UPDATE api_keys SET rotated_at = now() - interval '25 hours' WHERE id = $1`, key.id),
    401,
    'key_expired',
  ],
  'a deleted key': [() => run('DELETE FROM api_keys WHERE id = $1', key.id), 401, 'invalid_key'],
  'a key without the scope': [
    () => run(`UPDATE api_keys SET scopes = '{workflows:read}' WHERE id = $1`, key.id),
    403,
    'insufficient_scope',
  ],
  'a key whose issuer may only look on now': [
    () => addMember(service.database.db, key.organisationId, member.email, 'viewer', { actor: 'operator' }),
    403,
    'insufficient_scope',
  ],
  'a key whose issuer was removed': [
    () => removeMember(service.database.db, key.organisationId, member.email, { actor: 'operator' }),
    403,
    'insufficient_scope',
  ],
  'an archived workflow': [
    () => run(`UPDATE workflows SET status = 'archived' WHERE id = $1`, workflowId),
    409,
    'workflow_archived',
  ],
  'an inactive workflow': [
    () => run(`UPDATE workflows SET status = 'inactive' WHERE id = $1`, workflowId),
    409,
    'workflow_inactive',
  ],
  'a deleted workflow': [() => run('DELETE FROM workflows WHERE id = $1', workflowId), 404, 'not_found'],
  'a paused organisation': [
    () => run('UPDATE organisations SET paused_at = now() WHERE id = $1', key.organisationId),
    503,
    'organisation_paused',
  ],
};

describe('what changes applies to the next start', () => {
  test.for(Object.entries(CHANGES))('%s', async ([, [change, status, code]]) => {
    await remember();
    await change();
    const before = await countStarts();
    sent = [];
    const { status: got, json } = await execute();
    expect([got, json.code]).toEqual([status, code]);
    // It was tried from memory.
    expect(sent).toContain('insert_executions_permitted');
    expect(await countStarts()).toBe(before);
  });

  test('a change that was under way when what is remembered was read', async () => {
    await service.database.db.transaction(async (tx) => {
      await tx.query(`UPDATE workflows SET status = 'inactive' WHERE id = $1`, [workflowId]);
      // A later transaction that has ended, so that the number alone doesn't show which was seen.
      await run('UPDATE organisations SET name = name WHERE id = $1', key.organisationId);
      await remember();
    });
    sent = [];
    expect((await execute()).json.code).toBe('workflow_inactive');
    expect(sent).toContain('insert_executions_permitted');
  });

  test('a limit of requests counts from the next one on', async () => {
    await remember();
    await run(
      'INSERT INTO organisation_settings (organisation_id, requests_per_minute) VALUES ($1, 1)',
      key.organisationId,
    );
    sent = [];
    expect((await execute()).status).toBe(202);
    expect(sent).toContain('find_keys_for_authentication');
    expect((await execute()).status).toBe(429);
  });

  test('a new version is the one that runs, under its new name', async () => {
    await remember();
    expect((await update({ name: 'renamed', flow_data: STRICT_FLOW })).status).toBe(200);
    const names = await statementsOf(async () => {
      const { json } = await execute({ input_data: { amount: 1 } });
      const [row] = await service.database.db.query(
        'SELECT workflow_version, display_name FROM executions WHERE id = $1',
        [json.execution_id],
      );
      expect(row).toEqual({ workflow_version: 2, display_name: expect.stringContaining('renamed') });
    });
    expect(names).toContain('insert_executions_permitted');
  });

  test('the present workflow decides on the input, not the remembered one', async () => {
    expect((await update({ flow_data: STRICT_FLOW })).status).toBe(200);
    expect((await execute()).status).toBe(422);
    for (let tries = 0; tries < 3; tries += 1)
      expect((await execute({ input_data: { amount: 1 } })).status).toBe(202);
    expect((await update({ flow_data: RUNNABLE_FLOW })).status).toBe(200);
    expect((await execute()).status).toBe(202);
  });

  test('others of the organisation and of the same batch are stored', async () => {
    const others = await service.createKey();
    await remember();
    await run('UPDATE api_keys SET revoked_at = now() WHERE id = $1', key.id);
    const mine = key;
    const body = { name: 'other', flow_data: RUNNABLE_FLOW };
    const created = await service.api('POST', '/workflows', { key: others, body });
    const start = (by: TestKey, id: number) =>
      service.api('POST', `/workflows/${id}/execute`, { key: by, body: {} });
    const statuses = await Promise.all([
      start(mine, workflowId),
      start(others, Number(created.json.id)),
      start(mine, workflowId),
      start(others, Number(created.json.id)),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([401, 202, 401, 202]);
  });
});

describe('a key that was revoked learns nothing else', () => {
  const revoke = () => run('UPDATE api_keys SET revoked_at = now() WHERE id = $1', key.id);
  const REQUESTS: { readonly [what: string]: () => Promise<{ status: number; headers: Headers }> } = {
    'an invalid body': () => execute({ input_data: 1, unknown: 2 }),
    'a body that is no JSON': () =>
      fetch(`${service.url}/api/v1/workflows/${workflowId}/execute`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key.text}`, 'content-type': 'application/json' },
        body: '{',
      }),
    'an invalid id': () => service.api('POST', '/workflows/x/execute', { key, body: {} }),
    'an unknown workflow': () => service.api('POST', '/workflows/999999999/execute', { key, body: {} }),
    'an invalid Idempotency-Key': () => execute({}, { 'idempotency-key': 'x'.repeat(300) }),
    'a response that is not acceptable': () => execute({}, { accept: 'image/png' }),
    'its own execution': async () => {
      const [row] = await service.database.db.query<{ id: number }>(
        'SELECT max(id) AS id FROM executions WHERE workflow_id = $1',
        [workflowId],
      );
      return service.api('GET', `/executions/${row?.id}`, { key });
    },
    'its own execution, waiting': async () => {
      const [row] = await service.database.db.query<{ id: number }>(
        'SELECT max(id) AS id FROM executions WHERE workflow_id = $1',
        [workflowId],
      );
      return service.api('GET', `/executions/${row?.id}?wait=60`, { key });
    },
    'an unknown execution': () => service.api('GET', '/executions/999999999', { key }),
  };
  test.for(Object.entries(REQUESTS))('%s', async ([, request]) => {
    await remember();
    await revoke();
    const { status, headers } = await request();
    expect(status).toBe(401);
    expect([headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([null, null]);
  });
});

test('failures before a start from memory count no longer', async () => {
  await remember();
  const wrong = `${key.text.slice(0, -1)}${key.text.endsWith('A') ? 'B' : 'A'}`;
  const fail = (times: number) =>
    Promise.all(Array.from({ length: times }, () => service.api('GET', '/workflows', { key: wrong })));
  await fail(9);
  expect((await execute()).status).toBe(202);
  await fail(9);
  expect((await execute()).status).toBe(202);
});

test('of starts one after the other, the later one has the higher id, however each came about', async () => {
  const ids: number[] = [];
  for (let index = 0; index < 30; index += 1) {
    const headers: Record<string, string> = index % 7 === 3 ? { 'idempotency-key': `key-${index}` } : {};
    if (index % 7 === 5) {
      const path = `/workflows/${workflowId}/executions/batch`;
      const { json } = await service.api('POST', path, { key, body: { items: [{}, {}] } });
      const started = json.data as unknown as readonly {
        readonly receipt: { readonly execution_id: number };
      }[];
      ids.push(...started.map(({ receipt }) => receipt.execution_id));
    }
    ids.push(Number((await execute({}, headers)).json.execution_id));
  }
  expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  expect(new Set(ids).size).toBe(ids.length);
});

describe('of starts under way at two processes while something changes, none that was sent afterwards is accepted', () => {
  const CHANGED = {
    'the key': 'UPDATE api_keys SET revoked_at = now() WHERE id = $1',
    'the workflow': `UPDATE workflows SET status = 'archived' WHERE id = $1`,
  } as const;
  let other: ReturnType<typeof buildApp>;
  beforeAll(async () => {
    other = buildApp(service.deps);
    await other.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(() => other.close());

  /** @returns how many were accepted, and how many of these were sent after the change */
  async function changeUnderWay(sql: string, id: number) {
    let isOver = false;
    let accepted = 0;
    let late = 0;
    const { port } = other.server.address() as AddressInfo;
    const started = Promise.withResolvers<void>();
    async function keepStarting(url: string): Promise<void> {
      for (let after = 0; after < 3; after += Number(isOver)) {
        const wasOver = isOver;
        const answer = await fetch(`${url}/api/v1/workflows/${workflowId}/execute`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key.text}`, 'content-type': 'application/json' },
          body: '{}',
        });
        await answer.arrayBuffer();
        if (answer.status !== 202) continue;
        accepted += 1;
        if (wasOver) late += 1;
        if (accepted === 200) started.resolve();
      }
    }
    const urls = [service.url, `http://127.0.0.1:${port}`];
    const starting = Array.from({ length: 16 }, (_, index) => keepStarting(urls[index % 2] ?? ''));
    await started.promise;
    sent = [];
    await run(sql, id);
    isOver = true;
    await Promise.all(starting);
    return { accepted, late };
  }

  test.for(Object.entries(CHANGED))('%s', async ([what, sql]) => {
    const { accepted, late } = await changeUnderWay(sql, what === 'the key' ? key.id : workflowId);
    expect(late).toBe(0);
    expect(await countStarts()).toBe(accepted);
    expect(sent).toContain('insert_executions_permitted');
  });
});
