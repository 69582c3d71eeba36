import { pauseOrganisation, resumeOrganisation } from '@millrace/identity/organisations/pause';
import { verbatim } from '@millrace/messages';
import { openMailServer } from '@millrace/testing/mail-server';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAlerts } from '../src/alerts.ts';
import { claimMessage, finishAttempt } from '../src/message-store.ts';
import { sendDueMessages } from '../src/send.ts';
import { type AlertedOrganisation, type AlertWorld, SECRET, startAlertWorld, WORKER } from './world.ts';

let world: AlertWorld;
let org: AlertedOrganisation;
beforeAll(async () => {
  world = await startAlertWorld();
});
// What one test leaves undone is not the next one's.
beforeEach(async () => {
  await world.service.database.db.query('DELETE FROM alert_rules');
  await world.service.database.db.query('DELETE FROM alert_messages');
  await world.service.database.db.query('DELETE FROM execution_follow_ups');
  org = await world.organisation();
});
afterAll(() => world.stop());

const followUps = async () =>
  (await world.service.database.db.query("SELECT FROM execution_follow_ups WHERE kind = 'check_alerts'"))
    .length;
const change = (sql: string, ...values: unknown[]) => world.service.database.db.query(sql, values);
/** Makes what is planned for later due now. */
const hurry = () => change('UPDATE alert_messages SET due_at = now(), claimed_until = NULL');
const checkAgain = () => change('UPDATE alert_rules SET next_check_at = now()');

describe('a failure', () => {
  test('is told once by a signed message, however many processes look', async () => {
    const rule = await org.addRule({ name: 'failures of the import' });
    const id = await org.end();
    await world.run(5);
    await world.run();
    const [request, ...others] = world.outside.to(`POST ${org.path}`);
    expect(others).toEqual([]);
    const signed = new Webhook(SECRET).verify(request?.text ?? '', { ...request?.headers });
    expect(signed).toMatchObject({
      type: 'millrace.alert',
      data: {
        organisation_id: org.organisationId,
        is_test: false,
        rule: { id: rule, name: 'failures of the import', kind: 'failure' },
        incidents: [
          {
            ...{ name: 'import', workflow_id: org.workflowId, execution_id: id, occurrences: 1 },
            execution_url: `https://flows.example/o/${org.organisationId}/executions/${id}`,
            error: { code: 'broken', message: 'it broke' },
          },
        ],
        more: 0,
      },
    });
    expect(await followUps()).toBe(0);
    expect(await org.history()).toMatchObject([{ status: 'sent', attempts: 1, occurrences: 1, error: null }]);
  });

  test('of another organisation, another workflow, a trial, a test or a child is not told', async () => {
    const other = await world.organisation();
    await org.addRule({ workflow_id: await org.addWorkflow('another') });
    await other.addRule({});
    await org.end();
    await other.end({ fields: { is_test_mode: true } });
    await change(
      `INSERT INTO workflow_versions (workflow_id, version, organisation_id, flow_data)
       VALUES ($1, -1, $2, '{"nodes": [], "edges": []}')`,
      other.workflowId,
      other.organisationId,
    );
    await other.end({ fields: { workflow_version: -1 } });
    const parent = await other.end({ status: 'completed' });
    const child = {
      parent_execution_id: parent,
      parent_node_id: 'call',
      parent_iteration: [],
      parent_waits: true,
    };
    await other.end({ fields: { ...child, parent_call: `\\x${'00'.repeat(32)}` } });
    expect(await followUps()).toBe(0);
    await world.run();
    expect([...org.told(), ...other.told()]).toEqual([]);
  });

  test('joins others of its workflow until the interval of the rule is over', async () => {
    const rule = await org.addRule({ group_seconds: 3_600 });
    await org.end();
    await world.run();
    const second = await org.addWorkflow('export');
    for (let n = 0; n < 7; n += 1) await org.end();
    const last = await org.end({}, second);
    await world.run(2);
    expect(org.told()).toHaveLength(1);
    const { data } = await org.admin.call('GET /orgs/:org/alert-rules', {
      params: { org: org.organisationId },
    });
    expect(data.items).toMatchObject([{ id: rule, waiting: 8 }]);
    await change('UPDATE alert_rules SET next_message_at = now()');
    await world.run(2);
    expect(org.told().map(({ data: { incidents } }) => incidents)).toMatchObject([
      [{ occurrences: 1 }],
      [
        { name: 'import', occurrences: 7 },
        { name: 'export', occurrences: 1, execution_id: last },
      ],
    ]);
  });

  test('in quiet hours is told after them', async () => {
    const now = new Date();
    const minuteIn = (hours: number) => ((now.getUTCHours() + 24 + hours) % 24) * 60;
    const rule = await org.addRule({ quiet_hours: { from: minuteIn(-2), to: minuteIn(3) } });
    await org.end();
    await world.run();
    expect(org.told()).toEqual([]);
    const params = { org: org.organisationId, rule };
    await org.admin.call('PATCH /orgs/:org/alert-rules/:rule', { params, body: { quiet_hours: null } });
    await world.run();
    expect(org.told()).toHaveLength(1);
  });

  test('is told by mail and in Japanese', async () => {
    const mail = await openMailServer();
    const body = { name: 'mail', type: 'smtp', hosts: [], fields: mail.credential };
    const params = { org: org.organisationId };
    const { data } = await org.admin.call('POST /orgs/:org/credentials', { params, body });
    const target = {
      credential_id: data.id,
      from: 'Millrace <alerts@example.com>',
      to: 'a@example.com, b@example.com',
    };
    await org.addRule({ name: '請求書', channel: 'mail', target, language: 'ja' });
    await org.end();
    await org.end();
    await world.run();
    expect(mail.received).toMatchObject([
      { to: ['a@example.com', 'b@example.com'], subject: 'Millrace アラート: 請求書' },
    ]);
    expect(mail.received[0]?.text).toContain('「import」が 2 回失敗しました。最後のエラー: broken。it broke');
    await mail.close();
  });
});

test('a failure is told in a chat, once its service takes messages again', async () => {
  const path = `/chat/${org.organisationId}`;
  const line = `POST ${path}/chat.postMessage`;
  world.outside.on(line, (_request, nth) =>
    nth === 1 ? { status: 503 } : { body: { ok: true, ts: '1503435956.000247' } },
  );
  const fields = { service: 'slack', token: 'xoxb-canary', base_url: `${world.outside.url}${path}` };
  const body = { name: 'chat', type: 'chat', hosts: [], fields };
  const params = { org: org.organisationId };
  const { data } = await org.admin.call('POST /orgs/:org/credentials', { params, body });
  await org.addRule({ name: 'orders', channel: 'chat', target: { credential_id: data.id, to: '#alerts' } });
  const id = await org.end({}, await org.addWorkflow('import <!channel>'));
  // Saving the rule has sent nothing.
  expect(world.outside.to(line)).toEqual([]);
  await world.run();
  expect(await org.history()).toMatchObject([
    { status: 'pending', attempts: 1, error: { code: 'chat_unavailable' } },
  ]);
  await hurry();
  await world.run();
  const [, sent, ...more] = world.outside.to(line);
  expect(more).toEqual([]);
  expect(sent?.headers.authorization).toBe('Bearer xoxb-canary');
  expect(sent?.body).toMatchObject({
    channel: '#alerts',
    attachments: [{ fallback: 'Millrace alert: orders' }],
  });
  expect(sent?.text).toContain('it broke');
  expect(sent?.text).toContain(`https://flows.example/o/${org.organisationId}/executions/${id}`);
  // What a workflow is called calls nobody.
  expect(sent?.text).not.toContain('<!channel>');
  const history = await org.history();
  expect(history).toMatchObject([{ status: 'sent', attempts: 2, error: null, channel: 'chat' }]);
  expect(`${world.service.logs.join('')}${JSON.stringify(history)}`).not.toContain('xoxb-canary');
});

describe('rules about more than one execution', () => {
  test('n failures within a time', async () => {
    await org.addRule({ kind: 'failures', count: 3, seconds: 600 });
    await org.end();
    await org.end();
    await world.run();
    expect(org.told()).toEqual([]);
    const last = await org.end();
    await world.run(3);
    await org.end();
    await world.run();
    expect(org.told()).toMatchObject([{ data: { incidents: [{ execution_id: last, occurrences: 1 }] } }]);
  });

  test('recovered: the first completed after the last failure', async () => {
    await org.addRule({ kind: 'recovered' });
    await org.end({ status: 'completed' });
    await org.end();
    await world.run();
    await checkAgain();
    await world.run();
    expect(org.told()).toEqual([]);
    const good = await org.end({ status: 'completed' });
    // What completes in time leaves nothing to be looked at.
    expect(await followUps()).toBe(0);
    for (let n = 0; n < 2; n += 1) {
      await checkAgain();
      await world.run(2);
    }
    expect(org.told()).toMatchObject([{ data: { incidents: [{ execution_id: good, name: 'import' }] } }]);
  });

  test('slower than: those that ended, and those that still run, each once', async () => {
    await org.addRule({ kind: 'slow', seconds: 60 });
    await change("UPDATE alert_rules SET since = now() - interval '1 day'");
    await org.end({ status: 'completed', seconds: 59 });
    const ended = await org.end({ status: 'completed', seconds: 61 });
    await world.run();
    expect(org.told()).toMatchObject([{ data: { incidents: [{ execution_id: ended, occurrences: 1 }] } }]);
    const [running] = await world.service.database.db.query<{ id: number }>(
      `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
         is_test_mode, input, started_at, worker_id)
       VALUES ($1, $2, 1, 'running', 'api', 'x', false, '{}', now() - interval '61 seconds', $3) RETURNING id`,
      [org.organisationId, org.workflowId, WORKER],
    );
    for (let n = 0; n < 2; n += 1) {
      await checkAgain();
      await world.run(2);
    }
    expect(org.told()).toHaveLength(2);
    await change(
      "UPDATE executions SET status = 'completed', worker_id = NULL, completed_at = now() WHERE id = $1",
      running?.id,
    );
    expect(await followUps()).toBe(1);
    await world.run();
    expect(org.told().at(-1)).toMatchObject({ data: { incidents: [{ execution_id: running?.id }] } });
    expect(org.told()).toHaveLength(2);
    expect(await change('SELECT FROM alert_marks')).toEqual([]);
  });

  test('not started for a time: each silence once', async () => {
    await org.addRule({ kind: 'silent', seconds: 3_600, workflow_id: org.workflowId });
    const check = async () => {
      await checkAgain();
      await world.run(2);
    };
    await check();
    expect(org.told()).toEqual([]);
    await change("UPDATE alert_rules SET since = now() - interval '2 hours'");
    await check();
    await check();
    expect(org.told()).toMatchObject([{ data: { incidents: [{ name: 'import', execution_id: null }] } }]);
    const id = await org.end({ status: 'completed' });
    await check();
    expect(org.told()).toHaveLength(1);
    const at = new Date(Date.now() - 90 * 60_000).toISOString();
    const old = await org.end({ status: 'completed', fields: { created_at: at } });
    await check();
    await check();
    expect(old).toBeGreaterThan(id);
    expect(org.told()).toHaveLength(2);
  });

  test('about to end: an API key and a credential, each once', async () => {
    await org.addRule({ kind: 'expiring', seconds: 7 * 86_400 });
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
    const key = await world.service.createKey({ organisationId: org.organisationId, expiresAt: inDays(3) });
    await world.service.createKey({ organisationId: org.organisationId, expiresAt: inDays(30) });
    const at = inDays(2).toISOString();
    const params = { org: org.organisationId, credential: org.credentialId };
    const path = '/orgs/:org/credentials/:credential/expiry';
    await org.admin.call(`PUT ${path}`, { params, body: { expires_at: at } });
    expect((await org.admin.call(`GET ${path}`, { params })).data).toEqual({ expires_at: at });
    for (let n = 0; n < 2; n += 1) {
      await checkAgain();
      await world.run(2);
    }
    const subjects = org.told().flatMap(({ data }) => data.incidents.map(({ subject }) => subject));
    expect(subjects.toSorted()).toEqual([`api_key:${key.id}`, `credential:${org.credentialId}`]);
  });

  test('a connection that its service has ended, each time once', async () => {
    await org.addRule({ kind: 'expiring', seconds: 60 });
    const end = (generation: number) =>
      change(
        `INSERT INTO credential_grants (credential_id, organisation_id, state, generation) VALUES ($1, $2, 'ended', $3)
         ON CONFLICT (credential_id) DO UPDATE SET generation = excluded.generation`,
        org.credentialId,
        org.organisationId,
        generation,
      );
    for (const [generation, messages] of [
      [1, 1],
      [1, 1],
      [2, 2],
    ] as const) {
      await end(generation);
      await checkAgain();
      await world.run(2);
      expect(org.told()).toHaveLength(messages);
    }
    expect(org.told()[1]?.data.incidents).toMatchObject([
      { subject: `credential:${org.credentialId}`, error: { code: 'credential_disconnected' } },
    ]);
  });
});

describe('a message', () => {
  test('that could not be sent is tried again under its id, and given up in the end', async () => {
    await org.addRule({});
    world.outside.on(`POST ${org.path}`, { status: 503, body: `leaked ${SECRET}` });
    await org.end();
    await world.run();
    expect(await org.history()).toMatchObject([
      { status: 'pending', attempts: 1, error: { code: 'http_status' } },
    ]);
    await world.run();
    expect(org.told()).toHaveLength(1);
    for (let n = 0; n < 10; n += 1) {
      await hurry();
      await world.run();
    }
    expect(org.told()).toHaveLength(8);
    expect(await org.history()).toMatchObject([{ status: 'failed', attempts: 8, next_attempt_at: null }]);
    const ids = world.outside.to(`POST ${org.path}`).map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(1);
    const warnings = world.service.logs.filter((line) => line.includes('gave up an alert'));
    expect(warnings).toHaveLength(1);
    expect(`${world.service.logs.join('')}${JSON.stringify(await org.history())}`).not.toContain(SECRET);
  });

  test('to a credential that is gone ends at once', async () => {
    await org.addRule({});
    const params = { org: org.organisationId, credential: org.credentialId };
    await org.admin.call('DELETE /orgs/:org/credentials/:credential', { params, query: { force: true } });
    await org.end();
    await world.run();
    expect(await org.history()).toMatchObject([
      { status: 'failed', attempts: 1, error: { code: 'credential_not_found' } },
    ]);
  });

  test('of a process that died is sent by another; the outcome of the first changes nothing', async () => {
    await org.addRule({});
    await org.end();
    world.outside.on(`POST ${org.path}`, { status: 500 });
    await world.run();
    await hurry();
    const { db } = world.service.database;
    const claimed = await claimMessage(db, 120_000);
    world.outside.on(`POST ${org.path}`, { status: 204 });
    await world.run();
    expect(org.told()).toHaveLength(1);
    await hurry();
    await world.run(2);
    expect(org.told()).toHaveLength(2);
    const late = { error: { code: 'late', message: verbatim('late') }, retryMs: null };
    expect(await finishAttempt(db, claimed ?? { id: 0, claim: 0 }, late)).toBe(false);
    expect(await org.history()).toMatchObject([{ status: 'sent', attempts: 3, error: null }]);
  });

  test('of a process that stops while it sends is sent by the next one', async () => {
    await org.addRule({});
    await org.end();
    const arrived = Promise.withResolvers<void>();
    const held = Promise.withResolvers<{ readonly status: number }>();
    world.outside.on(`POST ${org.path}`, () => {
      arrived.resolve();
      return held.promise;
    });
    const alerts = createAlerts(world.deps);
    alerts.start();
    alerts.kick();
    await arrived.promise;
    await alerts.stop();
    held.resolve({ status: 503 });
    expect(await org.history()).toMatchObject([
      { status: 'pending', attempts: 1, error: { code: 'aborted' } },
    ]);
    world.outside.on(`POST ${org.path}`, { status: 204 });
    await world.run();
    expect(await org.history()).toMatchObject([{ status: 'sent', attempts: 2, error: null }]);
  });

  test('that is claimed while the process stops is given back without an attempt', async () => {
    await org.addRule({});
    await org.end();
    world.outside.on(`POST ${org.path}`, { status: 503 });
    await world.run();
    await hurry();
    // Asked once before each of the four claims, which are then under way.
    let asked = 0;
    const isStopping = (): boolean => {
      asked += 1;
      return asked > 4;
    };
    await sendDueMessages(world.deps, isStopping);
    expect(await org.history()).toMatchObject([{ status: 'pending', attempts: 1 }]);
    expect(org.told()).toHaveLength(1);
    world.outside.on(`POST ${org.path}`, { status: 204 });
    await world.run();
    expect(await org.history()).toMatchObject([{ status: 'sent', attempts: 2 }]);
  });

  test('of a rule that was deleted is not sent', async () => {
    const rule = await org.addRule({});
    await org.end();
    world.outside.on(`POST ${org.path}`, { status: 500 });
    await world.run();
    await org.admin.call('DELETE /orgs/:org/alert-rules/:rule', {
      params: { org: org.organisationId, rule },
    });
    await hurry();
    await world.run();
    expect(org.told()).toHaveLength(1);
    expect(await org.history()).toMatchObject([
      { status: 'failed', rule_id: null, rule_name: 'rule', error: { code: 'alert_rule_deleted' } },
    ]);
  });

  test('of a paused organisation is sent once it is resumed', async () => {
    const { db } = world.service.database;
    await org.addRule({});
    await org.end();
    await pauseOrganisation(db, org.organisationId, { actor: 'operator' });
    await world.run(2);
    expect(await org.history()).toMatchObject([{ status: 'pending', attempts: 0 }]);
    await resumeOrganisation(db, org.organisationId, { actor: 'operator' });
    await world.run(2);
    expect(org.told()).toHaveLength(1);
  });

  test('more than the organisation gets in an hour waits', async () => {
    const few = await startAlertWorld(2);
    const mine = await few.organisation();
    for (const name of ['a', 'b', 'c']) await mine.addRule({ name });
    await mine.end();
    await few.run(3);
    await few.run();
    expect(mine.told()).toHaveLength(2);
    const { db } = few.service.database;
    await db.query("UPDATE alert_messages SET created_at = created_at - interval '1 hour'");
    await db.query('UPDATE alert_rules SET next_message_at = now()');
    await few.run();
    expect(
      mine
        .told()
        .map(({ data }) => data.rule.name)
        .toSorted(),
    ).toEqual(['a', 'b', 'c']);
    await few.stop();
  });
});
