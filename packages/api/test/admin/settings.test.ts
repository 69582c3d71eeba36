import { prune } from '@millrace/service/retention/prune';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { insertExecution } from '@millrace/testing/rows';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const DAYS = { completed: 30, failed: 60, cancelled: 30 };

let service: TestService;
let admin: TestPerson;
beforeAll(async () => {
  const retention = {
    executionsDays: DAYS,
    auditDays: 365,
    statisticsDays: 400,
    idempotencyHours: 24,
    idleSessionMs: 86_400_000,
  };
  service = await startTestService({ runsWorker: false, config: { retention } });
  admin = await createPerson(service, 'org_admin');
});
afterAll(() => service.stop());

function change(body: object, person = admin) {
  return person.call('PATCH /orgs/:org/settings', { params: { org: person.organisationId }, body });
}

describe('settings', () => {
  test('are those of the service until the organisation sets them, and again after null', async () => {
    const person = await createPerson(service, 'org_admin');
    const nothing = {
      time_zone: null,
      retention_days: { completed: null, failed: null, cancelled: null },
      requests_per_minute: null,
      allowed_hosts: null,
      error_workflow_id: null,
    };
    const { data } = await person.call('GET /orgs/:org/settings', {
      params: { org: person.organisationId },
    });
    expect(data).toMatchObject({
      ...nothing,
      service: { retention_days: DAYS, audit_days: 365, allowed_hosts: [] },
    });
    const decided = {
      time_zone: 'Asia/Tokyo',
      retention_days: { completed: 7, failed: 60, cancelled: null },
      requests_per_minute: 100,
      allowed_hosts: ['*.example.com', 'api.example.org:8443'],
    };
    expect((await change(decided, person)).data).toMatchObject(decided);
    // Omitted members are unchanged.
    expect((await change({ retention_days: { failed: 20 } }, person)).data).toMatchObject({
      ...decided,
      retention_days: { completed: 7, failed: 20, cancelled: null },
    });
    expect((await change(nothing, person)).data).toMatchObject(nothing);
  });

  test('name an error workflow of the organisation that is not archived', async () => {
    const person = await createPerson(service, 'org_admin');
    const key = await service.createKey({ organisationId: person.organisationId });
    const body = { name: 'tell somebody', flow_data: { nodes: [], edges: [] } };
    const { id } = (await service.api('POST', '/workflows', { key, body })).json;
    expect((await change({ error_workflow_id: id }, person)).data).toMatchObject({ error_workflow_id: id });
    const refused = [await change({ error_workflow_id: id })];
    await service.api('DELETE', `/workflows/${id}`, { key });
    refused.push(await change({ error_workflow_id: id }, person));
    for (const { status, json } of refused) {
      expect([status, json.errors?.[0]?.pointer]).toEqual([422, '/error_workflow_id']);
    }
    expect((await change({ error_workflow_id: null }, person)).data).toMatchObject({
      error_workflow_id: null,
    });
  });

  test('are recorded with old and new values', async () => {
    const person = await createPerson(service, 'org_admin');
    await change({ time_zone: 'Europe/Berlin' }, person);
    await change({ time_zone: 'Europe/Berlin' }, person);
    const rows = await service.database.db.query<{ details: string }>(
      "SELECT details FROM audit_log WHERE organisation_id = $1 AND action = 'settings.changed'",
      [person.organisationId],
    );
    expect(rows.map((row) => JSON.parse(row.details))).toEqual([
      { before: { time_zone: null }, after: { time_zone: 'Europe/Berlin' } },
    ]);
  });

  test.each([
    [{ time_zone: 'Mars/Olympus' }, '/time_zone'],
    [{ time_zone: '+09:00' }, '/time_zone'],
    [{ retention_days: { completed: 31 } }, '/retention_days/completed'],
    [{ retention_days: { failed: 0 } }, '/retention_days/failed'],
    [{ requests_per_minute: 0 }, '/requests_per_minute'],
    [{ allowed_hosts: ['ok.example', 'https://x.example/path'] }, '/allowed_hosts/1'],
    [{ allow_hosts: [] }, '/allow_hosts'],
  ])('%j is refused', async (body, pointer) => {
    const answer = await change(body);
    expect([answer.status, answer.json.errors?.[0]?.pointer]).toEqual([422, pointer]);
  });

  test('of another organisation: 404; for an editor: 403; its time zone for every member', async () => {
    const stranger = await createPerson(service, 'org_admin');
    const params = { org: admin.organisationId };
    expect((await stranger.call('GET /orgs/:org/settings', { params })).status).toBe(404);
    const editor = await createPerson(service, 'editor', { organisationId: admin.organisationId });
    expect((await editor.call('PATCH /orgs/:org/settings', { params, body: {} })).status).toBe(403);
    await change({ time_zone: 'Asia/Tokyo' });
    const viewer = await createPerson(service, 'viewer', { organisationId: admin.organisationId });
    expect((await viewer.call('GET /orgs/:org/defaults', { params })).data).toEqual({
      time_zone: 'Asia/Tokyo',
    });
  });
});

describe('the request limit', () => {
  test('applies to all keys of the organisation together, and to no others', async () => {
    const person = await createPerson(service, 'org_admin');
    await change({ requests_per_minute: 3 }, person);
    const one = await service.createKey({ organisationId: person.organisationId });
    const two = await service.createKey({ organisationId: person.organisationId });
    const ask = async (key: { text: string }) => {
      const headers = { authorization: `Bearer ${key.text}` };
      const answer = await fetch(`${service.url}/api/v1/workflows`, { headers });
      return [
        answer.status,
        ((await answer.json()) as { code?: string }).code,
        answer.headers.get('ratelimit-policy'),
      ];
    };
    const allowed = [200, undefined, '"per-key";q=6000;w=60'];
    expect([await ask(one), await ask(two), await ask(one)]).toEqual([allowed, allowed, allowed]);
    expect(await ask(two)).toEqual([429, 'rate_limited', '"per-organisation";q=3;w=60']);
    expect((await ask(await service.createKey()))[0]).toBe(200);
    await change({ requests_per_minute: null }, person);
    expect((await ask(two))[0]).toBe(200);
  });
});

describe('retention', () => {
  async function ended(person: TestPerson, status: string, daysOld: number): Promise<number> {
    const { db } = service.database;
    const { data } = await (await createPerson(service, 'editor', person)).call('POST /orgs/:org/workflows', {
      params: { org: person.organisationId },
      body: { name: 'w', flow_data: { nodes: [], edges: [] } },
    });
    const workflow = { organisationId: person.organisationId, workflowId: data.workflow.id };
    const id = await insertExecution(db, workflow);
    await db.query(
      `UPDATE executions SET status = 'running', worker_id = gen_random_uuid(), started_at = now() - interval '1 year',
         created_at = now() - $2::integer * interval '1 day' WHERE id = $1`,
      [id, daysOld],
    );
    await db.query(
      `UPDATE executions SET status = $2::text, worker_id = NULL, completed_at = now() - $3::integer * interval '1 day',
         error = CASE WHEN $2 = 'failed' THEN '{}'::json END WHERE id = $1`,
      [id, status, daysOld],
    );
    return id;
  }

  test('of an organisation applies to its own executions, by status', async () => {
    const strict = await createPerson(service, 'org_admin');
    const other = await createPerson(service, 'org_admin');
    await change({ retention_days: { completed: 5 } }, strict);
    const gone = [await ended(strict, 'completed', 6), await ended(other, 'completed', 31)];
    const kept = [
      await ended(strict, 'completed', 4),
      await ended(strict, 'failed', 50),
      await ended(other, 'completed', 6),
    ];
    await prune(service.database.db, service.deps.config.retention);
    const rows = await service.database.db.query<{ id: number }>(
      'SELECT id FROM executions WHERE id = ANY ($1::bigint[]) ORDER BY id',
      [[...gone, ...kept]],
    );
    expect(rows.map(({ id }) => id)).toEqual(kept);
  });

  test('never exceeds that of the service, also when that is shortened later', async () => {
    const person = await createPerson(service, 'org_admin');
    await change({ retention_days: { completed: 30 } }, person);
    const id = await ended(person, 'completed', 20);
    const shortened = { ...service.deps.config.retention, executionsDays: { ...DAYS, completed: 10 } };
    await prune(service.database.db, shortened);
    const rows = await service.database.db.query('SELECT FROM executions WHERE id = $1', [id]);
    expect(rows).toHaveLength(0);
  });
});
