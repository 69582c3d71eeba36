import { createPerson } from '@millrace/testing/admin';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type AlertedOrganisation,
  type AlertWorld,
  SECRET,
  startAlertWorld,
} from '../../../alerts/test/world.ts';

let world: AlertWorld;
let org: AlertedOrganisation;
beforeAll(async () => {
  world = await startAlertWorld();
});
beforeEach(async () => {
  org = await world.organisation();
});
afterAll(() => world.stop());

const params = () => ({ org: org.organisationId });
const list = async () => (await org.admin.call('GET /orgs/:org/alert-rules', { params: params() })).data;
const change = (rule: number, body: object) =>
  org.admin.call('PATCH /orgs/:org/alert-rules/:rule', { params: { ...params(), rule }, body });
const auditOf = async (action: string) => {
  const { data } = await org.admin.call('GET /orgs/:org/audit', { params: params(), query: { action } });
  return data.items.map(({ details }) => details);
};

function form(fields: object = {}) {
  return {
    ...{ name: 'rule', kind: 'failure' as const, workflow_id: null, count: null, seconds: null },
    channel: 'webhook' as const,
    target: { credential_id: org.credentialId, url: `${world.outside.url}${org.path}` },
    ...{ language: 'en' as const, group_seconds: 300, quiet_hours: null, is_enabled: true },
    ...fields,
  };
}

const add = (fields: object) =>
  org.admin.call('POST /orgs/:org/alert-rules', { params: params(), body: form(fields) });

describe('a rule', () => {
  test('is stored as it was entered, changed in part, deleted, and each is recorded', async () => {
    const given = form({
      name: ' nightly ',
      quiet_hours: { from: 1320, to: 420 },
      workflow_id: org.workflowId,
    });
    const { data: added } = await org.admin.call('POST /orgs/:org/alert-rules', {
      params: params(),
      body: given,
    });
    expect(added).toMatchObject({
      ...given,
      name: 'nightly',
      workflow_name: 'import',
      waiting: 0,
      next_message_at: null,
    });
    const changed = await change(added.id, { kind: 'failures', count: 5, seconds: 600, workflow_id: null });
    expect(changed.data).toMatchObject({ name: 'nightly', kind: 'failures', count: 5, workflow_name: null });
    expect(await list()).toMatchObject({ items: [{ id: added.id }], limit: 5, messages_per_hour: 60 });
    const gone = await org.admin.call('DELETE /orgs/:org/alert-rules/:rule', {
      params: { ...params(), rule: added.id },
    });
    expect([gone.status, (await list()).items]).toEqual([204, []]);
    expect(await auditOf('alert_rule.changed')).toMatchObject([{ alert_rule_id: added.id, name: 'nightly' }]);
    for (const action of ['alert_rule.created', 'alert_rule.deleted']) {
      expect(await auditOf(action)).toMatchObject([{ alert_rule_id: added.id, channel: 'webhook' }]);
    }
    expect(JSON.stringify(await auditOf('alert_rule.created'))).not.toContain(org.path);
  });

  test.each<[string, object, string]>([
    ['name', { name: ' ' }, '/name'],
    ['count', { kind: 'failures', seconds: 60 }, '/count'],
    ['too few', { kind: 'failures', seconds: 60, count: 1 }, '/count'],
    ['seconds', { kind: 'slow' }, '/seconds'],
    ['needless seconds', { seconds: 5 }, '/seconds'],
    ['silence of everything', { kind: 'silent', seconds: 60 }, '/workflow_id'],
    ['unknown workflow', { workflow_id: 999_999_999 }, '/workflow_id'],
    [
      'unknown credential',
      { target: { credential_id: 999_999_999, url: 'https://example.com/' } },
      '/target',
    ],
    ['no address', { target: { credential_id: 1 } }, '/target'],
    ['quiet hours', { quiet_hours: { from: 0, to: 1440 } }, '/quiet_hours'],
    ['unknown member', { colour: 'red' }, '/colour'],
  ])('is refused where it is wrong: %s', async (_, fields, pointer) => {
    const { status, json } = await add(fields);
    expect(status).toBe(422);
    expect(json.errors?.[0]?.pointer).toContain(pointer);
    expect(await list()).toMatchObject({ items: [] });
  });

  test('about a workflow or a credential of another organisation is refused', async () => {
    const other = await world.organisation();
    for (const fields of [
      { workflow_id: other.workflowId },
      { target: { credential_id: other.credentialId, url: 'https://example.com/' } },
    ]) {
      expect((await add(fields)).status).toBe(422);
    }
  });

  test('with the wrong kind of credential, or mail without an address, is refused by the sending node', async () => {
    const smtp = { host: '127.0.0.1', port: 25, security: 'none', username: null, password: null };
    const body = { name: 'mail', type: 'smtp', hosts: [], fields: smtp };
    const { data } = await org.admin.call('POST /orgs/:org/credentials', { params: params(), body });
    const wrong = await add({ target: { credential_id: data.id, url: 'https://example.com/' } });
    expect(wrong.json.errors).toMatchObject([{ pointer: '/target', code: 'credential_wrong_type' }]);
    const target = { credential_id: data.id, from: 'alerts@example.com', to: 'nobody' };
    expect((await add({ channel: 'mail', target })).json.errors).toMatchObject([{ code: 'invalid_config' }]);
    expect((await add({ channel: 'mail', target: { ...target, to: 'ada@example.com' } })).status).toBe(200);
  });

  test('uses its credential: that is shown, and keeps the credential from being deleted without force', async () => {
    const { id } = (await add({ name: 'nightly' })).data;
    const other = await world.organisation();
    await other.addRule({});
    const at = { params: { ...params(), credential: org.credentialId } };
    const editor = await createPerson(world.service, 'editor', { organisationId: org.organisationId });
    const { data } = await editor.call('GET /orgs/:org/credentials/:credential/usage', at);
    expect(data).toEqual({ items: [], alert_rules: [{ id, name: 'nightly' }] });
    const refused = await editor.call('DELETE /orgs/:org/credentials/:credential', at);
    expect(refused.json).toMatchObject({
      code: 'credential_in_use',
      detail: expect.stringContaining(`the alert rules ${id} ("nightly")`),
    });
    const reference = { type: 'bearer', credential_id: org.credentialId };
    const node = { id: 'call', type: 'http.request', data: { config: { auth: reference } } };
    const body = { name: 'caller', flow_data: { nodes: [node], edges: [] } };
    const workflow = await org.admin.call('POST /orgs/:org/workflows', { params: params(), body });
    expect(workflow.status, workflow.text).toBeLessThan(300);
    const both = await editor.call('DELETE /orgs/:org/credentials/:credential', at);
    expect(both.json.detail).toMatch(
      new RegExp(`${workflow.data.workflow.id} \\("caller"\\).*${id} \\("nightly"\\)`),
    );
    const removed = await org.admin.call('DELETE /orgs/:org/credentials/:credential', {
      ...at,
      query: { force: true },
    });
    expect(removed.status).toBe(204);
    expect(await auditOf('credential.deleted')).toMatchObject([
      { used_by: [workflow.data.workflow.id], used_by_alert_rules: [id] },
    ]);
  });

  test('beyond the limit is refused, even if several are added at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => add({})));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(3);
    expect(answers.find(({ status }) => status === 409)?.json.code).toBe('too_many_alert_rules');
  });

  test('with another condition, or turned on again, starts over', async () => {
    const rule = await org.addRule({ kind: 'failures', count: 2, seconds: 600 });
    const end = async () => {
      await org.end();
      await world.run();
    };
    await end();
    await change(rule, { seconds: 500 });
    await end();
    await change(rule, { is_enabled: false });
    await end();
    await change(rule, { is_enabled: true });
    await end();
    expect(org.told()).toEqual([]);
    await change(rule, { name: 'renamed' });
    await end();
    expect(org.told()).toMatchObject([{ data: { rule: { name: 'renamed' } } }]);
  });

  test('is for administrators', async () => {
    const rule = await org.addRule({});
    const editor = await createPerson(world.service, 'editor', { organisationId: org.organisationId });
    const stranger = await createPerson(world.service, 'org_admin');
    for (const [person, status] of [
      [editor, 403],
      [stranger, 404],
    ] as const) {
      const at = { params: { ...params(), rule } };
      expect((await person.call('GET /orgs/:org/alert-rules', at)).status).toBe(status);
      expect((await person.call('GET /orgs/:org/alerts', at)).status).toBe(status);
      expect((await person.call('POST /orgs/:org/alert-rules/:rule/test', at)).status).toBe(status);
    }
    const inOwn = { params: { org: stranger.organisationId, rule } };
    expect((await stranger.call('POST /orgs/:org/alert-rules/:rule/test', inOwn)).status).toBe(404);
    expect(org.told()).toEqual([]);
  });
});

describe('a test alert', () => {
  const send = (rule: number) =>
    org.admin.call('POST /orgs/:org/alert-rules/:rule/test', { params: { ...params(), rule } });

  test('is sent at once, whatever the rule waits for, and is in the history', async () => {
    const rule = await org.addRule({ is_enabled: false, group_seconds: 3_600 });
    expect((await send(rule)).data).toMatchObject({
      status: 'sent',
      is_test: true,
      error: null,
      incidents: [],
    });
    expect(org.told()).toMatchObject([{ type: 'millrace.alert', data: { is_test: true, incidents: [] } }]);
    expect(await org.history()).toMatchObject([{ is_test: true, status: 'sent' }]);
    expect(await auditOf('alert_rule.tested')).toMatchObject([{ alert_rule_id: rule }]);
  });

  test('says what went wrong, without the secret, and is not repeated', async () => {
    const rule = await org.addRule({});
    world.outside.on(`POST ${org.path}`, { status: 500, body: SECRET });
    const { data } = await send(rule);
    expect(data).toMatchObject({ status: 'failed', attempts: 1, error: { code: 'http_status' } });
    await world.run();
    expect(org.told()).toHaveLength(1);
    expect(JSON.stringify(data)).not.toContain(SECRET);
  });

  test('is limited', async () => {
    const rule = await org.addRule({});
    const answers = [];
    for (let n = 0; n < 11; n += 1) answers.push((await send(rule)).status);
    expect(answers).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
  });
});

test('the history shows what was sent, page by page', async () => {
  await org.addRule({ name: 'one' });
  const id = await org.end();
  await world.run();
  await org.end();
  await world.run();
  const first = await org.admin.call('GET /orgs/:org/alerts', { params: params(), query: { limit: 1 } });
  const cursor = first.data.next_cursor ?? '';
  const second = await org.admin.call('GET /orgs/:org/alerts', {
    params: params(),
    query: { limit: 1, cursor },
  });
  expect(second.data).toMatchObject({
    items: [
      {
        ...{ rule_name: 'one', kind: 'failure', channel: 'webhook', status: 'sent', occurrences: 1 },
        incidents: [{ name: 'import', workflow_id: org.workflowId, execution_id: id, occurrences: 1 }],
      },
    ],
    next_cursor: null,
  });
});
