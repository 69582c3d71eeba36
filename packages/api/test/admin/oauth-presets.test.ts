import { randomBytes } from 'node:crypto';
import type { JsonObject, JsonValue } from '@millrace/engine';
import { prepareSecretKeys } from '@millrace/secrets/keys';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { createKeyFolder, type KeyFolder } from '@millrace/testing/secret-keys';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let folder: KeyFolder;
let service: TestService;
let editor: TestPerson;
beforeAll(async () => {
  folder = await createKeyFolder();
  service = await startTestService({ runsWorker: false, config: { dataDir: folder.dataDir } });
  await prepareSecretKeys(service.deps.db, service.deps.secretKeys, { makesKey: true });
  editor = await createPerson(service, 'editor');
});
afterAll(async () => {
  await service.stop();
  await folder.remove();
});

/** The addresses of a preset with the account that its user has. */
function ofAccount(fields: JsonObject): JsonObject {
  const filled = Object.entries(fields).map(([name, value]): [string, JsonValue] => [
    name,
    typeof value === 'string' ? value.replace(/<\w+>/, 'shop') : (value ?? null),
  ]);
  return Object.fromEntries(filled);
}

describe('a preset', () => {
  test('fills in what is missing', async () => {
    const { data } = await editor.call('POST /orgs/:org/credentials', {
      params: { org: editor.organisationId },
      body: {
        name: 'Drive',
        type: 'oauth2',
        hosts: [],
        fields: { service: 'google', client_id: 'c', client_secret: 's', scope: 'drive' },
      },
    });
    expect(data.hosts).toEqual(['*.googleapis.com']);
    expect(data.settings).toMatchObject({
      token_url: 'https://oauth2.googleapis.com/token',
      authorization_parameters: 'access_type=offline&prompt=consent',
      scope: 'drive',
    });
    const answer = await editor.call('POST /orgs/:org/credentials/:credential/connection', {
      params: { org: editor.organisationId, credential: data.id },
    });
    const url = new URL(answer.data.authorization_url);
    expect(url.origin).toBe('https://accounts.google.com');
    expect(url.searchParams.get('access_type')).toBe('offline');
  });

  test('exists for each service, and is complete', async () => {
    const { data } = await editor.call('GET /orgs/:org/credential-types', {
      params: { org: editor.organisationId },
    });
    const ids = data.oauth_presets.map(({ id }) => id);
    // Google's and Microsoft's mail servers want tokens for a scope of their own.
    expect(ids).toHaveLength(17);
    for (const { id, hosts, fields: known } of data.oauth_presets) {
      const fields = ofAccount(known);
      const answer = await editor.call('POST /orgs/:org/credentials', {
        params: { org: editor.organisationId },
        body: {
          name: `preset ${id}`,
          type: 'oauth2',
          hosts,
          fields: { ...fields, service: id, client_id: randomBytes(4).toString('hex') },
        },
      });
      expect(answer, id).toMatchObject({ status: 200 });
    }
  });

  test('with a part that only its user knows is refused until it is filled in', async () => {
    const add = (fields: JsonObject) =>
      editor.call('POST /orgs/:org/credentials', {
        params: { org: editor.organisationId },
        body: {
          ...{ name: `Zendesk ${randomBytes(4).toString('hex')}`, type: 'oauth2', hosts: ['*.zendesk.com'] },
          fields: { ...fields, service: 'zendesk', client_id: 'millrace', client_secret: 'canary' },
        },
      });
    expect((await add({})).status).toBe(422);
    const { data } = await editor.call('GET /orgs/:org/credential-types', {
      params: { org: editor.organisationId },
    });
    const zendesk = data.oauth_presets.find(({ id }) => id === 'zendesk');
    expect((await add(ofAccount(zendesk?.fields ?? {}))).status).toBe(200);
  });
});
