import { randomBytes } from 'node:crypto';
import { HTTP_CREDENTIAL_TYPES, type JsonObject } from '@millrace/engine';
import { prepareSecretKeys } from '@millrace/secrets/keys';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FIELDS } from '../../../credentials/test/support.ts';

let service: TestService;
let editor: TestPerson;
beforeAll(async () => {
  const secretKeys = { current: randomBytes(32), previous: [] };
  service = await startTestService({ runsWorker: false, config: { secretKeys } });
  await prepareSecretKeys(service.deps.db, service.deps.secretKeys, { makesKey: true });
  editor = await createPerson(service, 'editor');
});
afterAll(() => service.stop());

let names = 0;
async function create(type: keyof typeof FIELDS = 'bearer', person = editor) {
  names += 1;
  const hosts = HTTP_CREDENTIAL_TYPES.some((each) => each === type) ? ['api.example.com'] : [];
  const body = { name: `${type} ${names}`, type, hosts, fields: FIELDS[type] };
  const answer = await person.call('POST /orgs/:org/credentials', {
    params: { org: person.organisationId },
    body,
  });
  expect(answer.status).toBe(200);
  return answer.data;
}

const params = (id: number, person = editor) => ({ org: person.organisationId, credential: id });

async function useInWorkflow(credentialId: number): Promise<number> {
  const flow_data = {
    nodes: [
      { id: 'start', type: 'trigger.manual', data: {} },
      {
        id: 'call',
        type: 'http.request',
        data: { config: { method: 'GET', url: 'https://api.example.com/', credential_id: credentialId } },
      },
    ],
    edges: [{ source: 'start', target: 'call' }],
  } as JsonObject;
  const { data } = await editor.call('POST /orgs/:org/workflows', {
    params: { org: editor.organisationId },
    body: { name: 'caller', flow_data },
  });
  return data.workflow.id;
}

describe('secrets', () => {
  test('are listed by name if they have a value, without the value', async () => {
    const stored = async (type: string, fields: JsonObject) => {
      names += 1;
      const { data } = await editor.call('POST /orgs/:org/credentials', {
        params: { org: editor.organisationId },
        body: { name: `${type} ${names}`, type, hosts: type === 'basic' ? ['api.example.com'] : [], fields },
      });
      return data;
    };
    const chat = await stored('chat', { service: 'slack', token: 'canary-token' });
    expect(chat.stored_secrets).toEqual(['token']);
    expect((await stored('basic', { username: 'canary-key', password: '' })).stored_secrets).toEqual([
      'username',
    ]);
    const change = async (fields: JsonObject) =>
      (
        await editor.call('PATCH /orgs/:org/credentials/:credential', {
          params: params(chat.id),
          body: { fields },
        })
      ).data.stored_secrets;
    const address = 'https://hooks.slack.com/services/a';
    expect(await change({ webhook_url: address })).toEqual(['webhook_url', 'token']);
    expect(await change({ token: null })).toEqual(['webhook_url']);
    // Renaming keeps the stored names of secrets; for older credentials they are unknown.
    const rename = { params: params(chat.id), body: { name: 'Team chat' } };
    const renamed = await editor.call('PATCH /orgs/:org/credentials/:credential', rename);
    expect(renamed.data.stored_secrets).toEqual(['webhook_url']);
    await service.database.db.query('UPDATE credentials SET stored_secrets = NULL WHERE id = $1', [chat.id]);
    const { data } = await editor.call('GET /orgs/:org/credentials', {
      params: { org: editor.organisationId },
    });
    expect(data.items.find(({ id }) => id === chat.id)?.stored_secrets).toBeNull();
  });

  test('of no type appear in any response, log or audit row', async () => {
    const texts: string[] = [];
    for (const type of Object.keys(FIELDS) as (keyof typeof FIELDS)[]) {
      const { id } = await create(type);
      const changed = await editor.call('PATCH /orgs/:org/credentials/:credential', {
        params: params(id),
        body: { fields: FIELDS[type] },
      });
      expect(changed.status).toBe(200);
      texts.push(changed.text);
    }
    const org = { params: { org: editor.organisationId } };
    const listed = await editor.call('GET /orgs/:org/credentials', org);
    const audit = await service.database.db.query('SELECT details FROM audit_log');
    texts.push(listed.text, JSON.stringify(audit), service.logs.join('\n'));
    expect(listed.data.items.length).toBeGreaterThanOrEqual(8);
    for (const text of texts) expect(text).not.toMatch(/canary/);
  });

  test('are not repeated in refusals', async () => {
    const answer = await editor.call('POST /orgs/:org/credentials', {
      params: { org: editor.organisationId },
      body: { name: 'broken', type: 'bearer', hosts: ['x y'], fields: { token: 'canary with blanks' } },
    });
    expect(answer.status).toBe(422);
    expect(answer.json.errors?.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '/hosts/0',
      '/fields/token',
    ]);
    expect(answer.text + service.logs.join('\n')).not.toMatch(/canary/);
  });

  test('are required again when the change sends them elsewhere', async () => {
    const { id } = await create();
    const body = { hosts: ['evil.example'] };
    const refused = await editor.call('PATCH /orgs/:org/credentials/:credential', {
      params: params(id),
      body,
    });
    expect([refused.status, refused.json.errors?.[0]?.pointer]).toEqual([422, '/fields/token']);
    const given = { ...body, fields: { token: 'another' } };
    const { data } = await editor.call('PATCH /orgs/:org/credentials/:credential', {
      params: params(id),
      body: given,
    });
    expect(data.hosts).toEqual(['evil.example']);
  });

  test('that were discarded are reported as missing', async () => {
    const { id } = await create();
    await service.database.db.query('UPDATE credentials SET key_id = NULL, ciphertext = NULL WHERE id = $1', [
      id,
    ]);
    const { data } = await editor.call('GET /orgs/:org/credentials', {
      params: { org: editor.organisationId },
    });
    expect(data.items.find((each) => each.id === id)?.needs_secret).toBe(true);
    const patched = await editor.call('PATCH /orgs/:org/credentials/:credential', {
      params: params(id),
      body: { hosts: ['api.example.com', 'b.example.com'] },
    });
    expect([patched.status, patched.json.errors?.[0]?.code]).toEqual([422, 'secret_damaged']);
  });
});

test('the types come with their field schemas', async () => {
  const { data } = await editor.call('GET /orgs/:org/credential-types', {
    params: { org: editor.organisationId },
  });
  const smtp = data.items.find(({ type }) => type === 'smtp');
  expect(smtp).toMatchObject({ title: 'Mail server', is_bound: false });
  expect(smtp?.schema).toMatchObject({ properties: { password: { 'x-secret': true } } });
});

describe('changes', () => {
  test('are recorded with who and from where, naming changed fields only', async () => {
    const { id, name, created_by } = await create();
    expect(created_by).toBe(editor.email);
    await editor.call('PATCH /orgs/:org/credentials/:credential', {
      params: params(id),
      body: { name: 'renamed', fields: { token: 'other' } },
    });
    const rows = await service.database.db.query<{ action: string; details: string; source_ip: string }>(
      `SELECT action, details, source_ip FROM audit_log
       WHERE user_id = $1 AND details->>'credential_id' = $2 ORDER BY id`,
      [editor.userId, String(id)],
    );
    expect(rows.map((row) => [row.action, JSON.parse(row.details).name, row.source_ip])).toEqual([
      ['credential.created', name, '127.0.0.1'],
      ['credential.updated', 'renamed', '127.0.0.1'],
    ]);
    expect(JSON.parse(rows[1]?.details ?? '').changed).toEqual(['name', 'fields.token']);
  });

  test('a name that is taken is refused', async () => {
    const { name } = await create();
    const answer = await editor.call('POST /orgs/:org/credentials', {
      params: { org: editor.organisationId },
      body: { name, type: 'secret', hosts: [], fields: { value: 'x' } },
    });
    expect([answer.status, answer.json.errors?.[0]?.code]).toEqual([422, 'name_taken']);
  });

  test.each(['PATCH', 'DELETE'] as const)('%s: 404 in another organisation', async (method) => {
    const { id } = await create();
    const stranger = await createPerson(service, 'org_admin');
    const options = { params: params(id, stranger), body: { name: 'taken over' } };
    const answer = await stranger.call(`${method} /orgs/:org/credentials/:credential`, options as never);
    expect(answer.status).toBe(404);
  });

  test('a viewer is refused', async () => {
    const viewer = await createPerson(service, 'viewer', { organisationId: editor.organisationId });
    const answer = await viewer.call('GET /orgs/:org/credentials', {
      params: { org: editor.organisationId },
    });
    expect(answer.status).toBe(403);
  });
});

describe('a credential in use', () => {
  test('lists the workflows that use it', async () => {
    const { id } = await create();
    const unused = await create();
    const workflowId = await useInWorkflow(id);
    const usage = async (of: number) =>
      (await editor.call('GET /orgs/:org/credentials/:credential/usage', { params: params(of) })).data;
    expect(await usage(id)).toEqual({ items: [{ id: workflowId, name: 'caller' }], alert_rules: [] });
    expect(await usage(unused.id)).toEqual({ items: [], alert_rules: [] });
  });

  test('is removed by an org_admin only, with force', async () => {
    const { id } = await create();
    await useInWorkflow(id);
    const remove = (person: TestPerson, force: boolean) =>
      person.call('DELETE /orgs/:org/credentials/:credential', { params: params(id), query: { force } });
    expect((await remove(editor, false)).json.code).toBe('credential_in_use');
    expect((await remove(editor, true)).json.code).toBe('insufficient_role');
    const admin = await createPerson(service, 'org_admin', { organisationId: editor.organisationId });
    expect((await remove(admin, true)).status).toBe(204);
    expect((await remove(admin, true)).status).toBe(404);
  });

  test('that is unused is removed by an editor', async () => {
    const { id } = await create();
    const answer = await editor.call('DELETE /orgs/:org/credentials/:credential', { params: params(id) });
    expect(answer.status).toBe(204);
  });
});
