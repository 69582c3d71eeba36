import { randomUUID } from 'node:crypto';
import { recordScopeViolations } from '@millrace/identity/api-keys/scope-violations';
import { sealAuditLog } from '@millrace/identity/audit/seal';
import { type AuditAction, type AuditEntry, insertAudit } from '@millrace/identity/audit/store';
import { verifyDueChains } from '@millrace/service/audit/chain-tasks';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import type { Method } from '@millrace/testing/api';
import { rewriteAuditLog } from '@millrace/testing/audit-log';
import { RUNNABLE_FLOW } from '@millrace/testing/flows';
import { startTestService, type TestService } from '@millrace/testing/service';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let service: TestService;
let admin: TestPerson;
beforeAll(async () => {
  service = await startTestService({ runsWorker: false });
  admin = await createPerson(service, 'org_admin');
});
afterAll(() => service.stop());

interface Filters {
  action?: string;
  actor?: 'user' | 'operator' | 'service' | 'api_key' | 'member';
  who?: string;
  about?: string;
  from?: string;
  to?: string;
  ip?: string;
  limit?: number;
  cursor?: string;
}

async function read(query: Filters = {}, person = admin) {
  const { status, data } = await person.call('GET /orgs/:org/audit', {
    params: { org: person.organisationId },
    query,
  });
  expect(status).toBe(200);
  return data;
}

async function write(
  person: TestPerson,
  action: `workflow.${string}`,
  { sourceIp = '203.0.113.7', ...more }: Partial<AuditEntry> & { readonly sourceIp?: string } = {},
): Promise<void> {
  await insertAudit(service.database.db, {
    organisationId: person.organisationId,
    // The log may contain names of earlier versions.
    action: action as AuditAction,
    by: { actor: 'user', userId: person.userId, memberId: person.memberId, sourceIp },
    ...more,
  });
}

async function exportAs(format: 'csv' | 'jsonl', person: TestPerson, query: Filters = {}) {
  return person.call(`GET /orgs/:org/audit/${format}`, { params: { org: person.organisationId }, query });
}

describe('the log', () => {
  test('records who did what to which key, from where', async () => {
    const { data } = await admin.call('POST /orgs/:org/keys', {
      params: { org: admin.organisationId },
      body: { name: 'one', scopes: ['workflows:read'], expires_at: null },
    });
    const { items } = await read({ action: 'api_key.issued' });
    expect(items[0]).toMatchObject({
      actor: 'user',
      actor_name: admin.email,
      api_key: { id: data.key.id, name: 'one', key_id: data.key.key_id, last_four: data.key.last_four },
      repeats: 1,
      last_occurred_at: null,
      member: { id: admin.memberId },
      source_ip: '127.0.0.1',
      details: { name: 'one' },
    });
  });

  test('belongs to one organisation', async () => {
    const stranger = await createPerson(service, 'org_admin');
    await write(stranger, 'workflow.theirs');
    expect((await read({ action: 'workflow.theirs' })).items).toEqual([]);
    expect((await read({}, stranger)).items.map(({ action }) => action)).toContain('workflow.theirs');
  });

  test('is refused to an editor', async () => {
    const editor = await createPerson(service, 'editor', { organisationId: admin.organisationId });
    for (const name of [
      'GET /orgs/:org/audit',
      'GET /orgs/:org/audit/csv',
      'GET /orgs/:org/audit/jsonl',
    ] as const) {
      const answer = await editor.call(name, { params: { org: admin.organisationId } });
      expect([name, answer.status]).toEqual([name, 403]);
    }
  });
});

describe('the chain', () => {
  test('says when the log was verified, and what was found', async () => {
    const person = await createPerson(service, 'org_admin');
    const params = { org: person.organisationId };
    const chain = async () => (await person.call('GET /orgs/:org/audit/chain', { params })).data;
    expect(await chain()).toEqual({
      verified_at: null,
      verified_entries: 0,
      problem: null,
      length: 0,
      head: null,
    });
    const { db } = service.database;
    await write(person, 'workflow.kept');
    await sealAuditLog(db);
    const log = pino({ level: 'silent' });
    await verifyDueChains(db, 60_000, log);
    const sound = await chain();
    expect(sound).toMatchObject({ problem: null, length: sound.verified_entries });
    expect(sound.verified_entries).toBeGreaterThan(0);
    expect(sound.head).toMatch(/^[0-9a-f]{64}$/);

    const [entry] = (await read({ action: 'workflow.kept' }, person)).items;
    await rewriteAuditLog(db, 'DELETE FROM audit_log WHERE id = $1', [entry?.id]);
    await verifyDueChains(db, 60_000, log);
    expect(await chain()).toEqual(sound);
    await verifyDueChains(db, 0, log);
    expect(await chain()).toMatchObject({
      problem: { kind: 'entry_missing', entry_id: entry?.id, position: sound.length, count: 1 },
    });
    const editor = await createPerson(service, 'editor', { organisationId: person.organisationId });
    expect((await editor.call('GET /orgs/:org/audit/chain', { params })).status).toBe(403);
  });
});

describe('actions of API keys', () => {
  test('changes to workflows and cancelling are recorded with key and address; starts are not', async () => {
    const person = await createPerson(service, 'org_admin');
    const key = await service.createKey({ organisationId: person.organisationId });
    const send = async (method: Method, path: string, body?: object, headers = {}) => {
      const answer = await service.api(method, path, {
        key,
        headers,
        ...(body === undefined ? {} : { body }),
      });
      expect(answer.status, answer.text).toBeLessThan(300);
      return answer.json;
    };
    const create = { name: 'Orders', flow_data: RUNNABLE_FLOW };
    const once = { 'idempotency-key': randomUUID() };
    const { id } = await send('POST', '/workflows', create, once);
    await send('POST', '/workflows', create, once);
    const path = `/workflows/${id}`;
    await send('PUT', path, { name: 'Orders' });
    const flow = { ...RUNNABLE_FLOW, settings: { timezone: 'Asia/Tokyo' } };
    await send('PUT', path, { name: 'Shop', status: 'active', flow_data: flow });
    await send('POST', `${path}/versions/1/restore`, {});
    const { execution_id: execution } = await send('POST', `${path}/execute`, {});
    await send('POST', `/executions/${execution}/cancel`);
    await send('POST', `/executions/${execution}/cancel`);
    await send('POST', `/executions/${execution}/rerun`, { from: 'start' });
    await send('DELETE', path);
    await send('DELETE', path);
    await send('PUT', path, { status: 'inactive' });
    const { items } = await read({ actor: 'api_key' }, person);
    expect(items.map(({ action, details }) => [action, details]).reverse()).toEqual([
      ['workflow.created', { workflow_id: id, name: 'Orders' }],
      [
        'workflow.changed',
        {
          workflow_id: id,
          changed: ['name', 'flow_data'],
          version: 2,
          from_status: 'draft',
          status: 'active',
        },
      ],
      ['workflow.version_restored', { workflow_id: id, version: 3, restored_from: 1 }],
      ['execution.cancelled', { execution_id: execution }],
      ['workflow.archived', { workflow_id: id, from_status: 'active' }],
      ['workflow.restored', { workflow_id: id, changed: [], from_status: 'archived', status: 'inactive' }],
    ]);
    const lastFour = key.text.slice(-4);
    for (const item of items) {
      expect(item).toMatchObject({
        actor: 'api_key',
        api_key: { id: key.id, key_id: key.keyId, last_four: lastFour },
        source_ip: '127.0.0.1',
        request_id: expect.any(String),
      });
    }
  });
});

describe('filters', () => {
  let person: TestPerson;
  beforeAll(async () => {
    person = await createPerson(service, 'org_admin');
    await write(person, 'workflow.first', { details: { name: 'Orders', workflow_id: 41 } });
    await write(person, 'workflow.second', { sourceIp: '198.51.100.23' });
    await write(person, 'workflow.third', { by: { actor: 'operator' } });
    await rewriteAuditLog(
      service.database.db,
      `UPDATE audit_log SET occurred_at = now() - interval '3 days'
       WHERE organisation_id = $1 AND action = 'workflow.first'`,
      [person.organisationId],
    );
  });
  const actions = async (query: Filters) =>
    (await read(query, person)).items
      .map(({ action }) => action)
      .filter((action) => action.startsWith('workflow.'));

  test.each<[Filters, string[]]>([
    [{ action: 'workflow.second' }, ['workflow.second']],
    [{ actor: 'operator' }, ['workflow.third']],
    [{ who: 'ORG_ADMIN-' }, ['workflow.second', 'workflow.first']],
    [{ who: 'nobody' }, []],
    [{ ip: '100.23' }, ['workflow.second']],
    [{ about: 'oRDER' }, ['workflow.first']],
    [{ about: '#41' }, ['workflow.first']],
    // The actor isn't the target.
    [{ about: 'ORG_ADMIN-' }, []],
    [{ about: '%' }, []],
    // Not a pattern: these characters are literal.
    [{ ip: '%' }, []],
    [{ who: '_rg' }, []],
    [{ to: new Date(Date.now() - 86_400_000).toISOString() }, ['workflow.first']],
    [{ from: new Date(Date.now() - 86_400_000).toISOString() }, ['workflow.third', 'workflow.second']],
    [{ from: new Date(Date.now() + 3_600_000).toISOString() }, []],
  ])('%j', async (query, expected) => {
    expect(await actions(query)).toEqual(expected);
  });

  test('repeated entries are found by their last time and by each address', async () => {
    const key = await service.createKey({ organisationId: person.organisationId });
    const violation = {
      organisationId: person.organisationId,
      apiKeyId: key.id,
      scope: 'workflows:write',
      method: 'PUT',
      path: '/api/v1/workflows/1',
      requestId: 'r',
    } as const;
    const { db } = service.database;
    await recordScopeViolations(db, [{ ...violation, sourceIp: '192.0.2.81' }]);
    await rewriteAuditLog(
      db,
      `UPDATE audit_log SET occurred_at = occurred_at - interval '20 hours' WHERE api_key_id = $1`,
      [key.id],
    );
    await recordScopeViolations(db, [{ ...violation, sourceIp: '192.0.2.82' }]);
    const [entry, ...more] = (await read({ action: 'api_key.scope_violation' }, person)).items;
    expect(more).toEqual([]);
    expect(entry).toMatchObject({
      repeats: 2,
      source_ip: '192.0.2.81',
      actor: 'api_key',
      api_key: { id: key.id, last_four: key.text.slice(-4) },
      details: { source_ips: ['192.0.2.81', '192.0.2.82'] },
    });
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
    for (const query of [
      { from: hourAgo },
      { ip: '2.82' },
      { who: key.keyId },
      { who: key.text.slice(-4) },
    ]) {
      const ids = (await read({ ...query, action: 'api_key.scope_violation' }, person)).items.map(
        ({ id }) => id,
      );
      expect([query, ids]).toEqual([query, [entry?.id]]);
    }
    const [head, row] = parseCsv((await exportAs('csv', person, { action: 'api_key.scope_violation' })).text);
    const cells = Object.fromEntries((head ?? []).map((name, index) => [name, row?.[index]]));
    expect(cells).toMatchObject({
      api_key_key_id: key.keyId,
      api_key_last_four: key.text.slice(-4),
      repeats: '2',
      last_occurred_at: entry?.last_occurred_at,
    });
  });

  test('the offered actions are those that occur', async () => {
    const { data } = await person.call('GET /orgs/:org/audit/actions', {
      params: { org: person.organisationId },
    });
    expect(data.items).toEqual(
      expect.arrayContaining(['workflow.first', 'workflow.second', 'workflow.third']),
    );
    expect(data.items).toEqual([...new Set(data.items)].sort());
  });

  test('continue over pages, and a cursor is only valid for its filters', async () => {
    const first = await read({ limit: 1 }, person);
    const second = await read({ limit: 1, cursor: first.next_cursor ?? '' }, person);
    expect(second.items[0]?.id).toBeLessThan(first.items[0]?.id ?? 0);
    const answer = await person.call('GET /orgs/:org/audit', {
      params: { org: person.organisationId },
      query: { cursor: first.next_cursor ?? '', actor: 'user' },
    });
    expect([answer.status, answer.json.errors?.[0]?.pointer]).toEqual([422, '/cursor']);
  });
});

describe('export', () => {
  test('CSV: no cell starts like a formula, and none ends early', async () => {
    const person = await createPerson(service, 'org_admin');
    const evil = ['=HYPERLINK("http://evil")', '+1', '-1', '@SUM(A1)', '\tx', '\rx', '＝1', ' =1'];
    for (const ip of evil) await write(person, 'workflow.evil', { sourceIp: ip });
    await write(person, 'workflow.plain', { details: { note: 'a "quoted", text\r\nin two lines' } });
    const { text, headers } = await exportAs('csv', person);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('content-disposition')).toMatch(
      /^attachment; filename="audit-log-\d{4}-\d\d-\d\d\.csv"$/,
    );
    const rows = parseCsv(text);
    expect(rows[0]?.slice(0, 3)).toEqual(['id', 'occurred_at', 'action']);
    const cells = rows.flat();
    for (const cell of cells) expect(cell).not.toMatch(/^[=+\-@\t\r＝]/);
    expect(cells).toEqual(expect.arrayContaining(evil.map((text) => `'${text}`)));
    expect(cells).toContain('{"note":"a \\"quoted\\", text\\r\\nin two lines"}');
  });

  test('JSON lines: each line is an entry as in the list', async () => {
    const person = await createPerson(service, 'org_admin');
    await write(person, 'workflow.one', { details: { note: 'a\nb' } });
    const { text } = await exportAs('jsonl', person);
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toEqual((await read({}, person)).items);
  });

  test('more entries than one batch are complete, each once, in order', async () => {
    const person = await createPerson(service, 'org_admin');
    await service.database.db.query(
      `INSERT INTO audit_log (organisation_id, action, actor)
       SELECT $1, 'workflow.many', 'service' FROM generate_series(1, 1201)`,
      [person.organisationId],
    );
    const { text } = await exportAs('jsonl', person, { action: 'workflow.many' });
    const ids = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).id as number);
    expect(ids).toHaveLength(1201);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a));
  });

  test('is itself recorded, with its filters', async () => {
    const person = await createPerson(service, 'org_admin');
    await exportAs('csv', person, { action: 'workflow.none', ip: '10.' });
    const { items } = await read({ action: 'audit_log.exported' }, person);
    expect(items).toHaveLength(1);
    expect(items[0]?.details).toEqual({ format: 'csv', filters: { action: 'workflow.none', ip: '10.' } });
  });
});

/** RFC 4180, all cells quoted. */
function parseCsv(text: string): string[][] {
  const body = text.replace(/^\uFEFF/, '');
  return body
    .split(/\r\n(?=")/)
    .map((row) =>
      [...row.matchAll(/"((?:[^"]|"")*)"(?:,|\r\n$|$)/g)].map(([, cell = '']) => cell.replaceAll('""', '"')),
    );
}
