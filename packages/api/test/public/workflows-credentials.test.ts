import { addCredential } from '@millrace/credentials/credentials';
import { findUsage } from '@millrace/credentials/references';
import type { JsonObject } from '@millrace/engine';
import { keysOfVariable } from '@millrace/testing/secret-keys';
import { startTestService, type TestKey, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let service: TestService;
let key: TestKey;
let credentialId: number;
const keys = keysOfVariable();
beforeAll(async () => {
  service = await startTestService({ runsWorker: false });
  key = await service.createKey();
  credentialId = await storeCredential(key.organisationId);
});
afterAll(() => service.stop());

async function storeCredential(organisationId: number, name = 'CRM'): Promise<number> {
  const given = {
    organisationId,
    name,
    type: 'bearer',
    hosts: ['api.example.com'],
    fields: { token: 'canary' },
  };
  const row = await addCredential({ db: service.database.db, keys }, given, { actor: 'operator' });
  return row.id;
}

function flowWith(id: number | string): JsonObject {
  const auth = { type: 'credential', credential_id: id };
  return {
    nodes: [
      { id: 'start', type: 'trigger.manual', data: {} },
      { id: 'call', type: 'http.request', data: { config: { url: 'https://api.example.com', auth } } },
    ],
    edges: [{ id: 'e', source: 'start', target: 'call' }],
  };
}

const missing = {
  status: 422,
  json: {
    errors: [{ pointer: '/flow_data/nodes/1/data/config/auth/credential_id', code: 'credential_not_found' }],
  },
};

describe('a workflow that uses a credential', () => {
  test('201 and 200: it can be saved and activated, and only contains the id', async () => {
    const body = { name: 'x', flow_data: flowWith(credentialId) };
    const created = await service.api('POST', '/workflows', { key, body: { ...body, status: 'active' } });
    expect(created.status).toBe(201);
    expect(created.text).toContain(`"credential_id":${credentialId}`);
    expect(created.text).not.toContain('canary');
  });

  test('through a constant it counts the same: as used, and required to activate', async () => {
    const { registry } = service.deps;
    const by = (id: number) => ({ ...flowWith('{{ vars.crm }}'), settings: { vars: { crm: id } } });
    const activate = (id: number) =>
      service.api('POST', '/workflows', { key, body: { name: 'x', flow_data: by(id), status: 'active' } });
    expect(await activate(999_999)).toMatchObject(missing);
    expect((await activate(0)).json.errors).toMatchObject([{ code: 'empty_config' }]);
    const body = { name: 'by constant', flow_data: by(credentialId), status: 'active' };
    expect((await service.api('POST', '/workflows', { key, body })).status).toBe(201);
    const { workflows: using } = await service.database.db.forOrganisation(key.organisationId, (tx) =>
      findUsage(tx, key.organisationId, credentialId, registry),
    );
    expect(using.map(({ name }) => name)).toContain('by constant');
  });

  test("422: it can't be activated while its organisation has no such credential", async () => {
    const other = await storeCredential(await service.createOrganisation());
    for (const id of [other, 999_999]) {
      const body = { name: 'x', flow_data: flowWith(id) };
      expect(
        await service.api('POST', '/workflows', { key, body: { ...body, status: 'active' } }),
      ).toMatchObject(missing);
      const draft = await service.api('POST', '/workflows', { key, body });
      expect(draft).toMatchObject({ status: 201, json: { status: 'draft' } });
      const path = `/workflows/${draft.json.id}`;
      expect(await service.api('PUT', path, { key, body: { status: 'active' } })).toMatchObject(missing);
      const mended = { status: 'active', flow_data: flowWith(credentialId) };
      expect(await service.api('PUT', path, { key, body: mended })).toMatchObject({ status: 200 });
      const versions = await service.api('POST', `${path}/versions/1/restore`, { key });
      expect(versions).toMatchObject(missing);
    }
  });

  test('200: an update of an active one that leaves its flow alone is accepted, whatever happened to the credential', async () => {
    const id = await storeCredential(key.organisationId, 'second');
    const body = { name: 'x', flow_data: flowWith(id), status: 'active' };
    const created = await service.api('POST', '/workflows', { key, body });
    await service.database.db.query('DELETE FROM credentials WHERE id = $1', [id]);
    const path = `/workflows/${created.json.id}`;
    const detail = await service.api('GET', path, { key });
    expect((await service.api('PUT', path, { key, raw: detail.text })).status).toBe(200);
    expect((await service.api('PUT', path, { key, body: { name: 'y' } })).status).toBe(200);
  });
});
