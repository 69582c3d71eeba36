import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { JsonObject } from '@millrace/engine';
import { pauseOrganisation } from '@millrace/identity/organisations/pause';
import { registry } from '@millrace/nodes';
import { typesToRun } from '@millrace/own-connectors/types';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { createTestDatabase } from '@millrace/testing/database';
import { keysOfVariable } from '@millrace/testing/secret-keys';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { exampleFile, flowOf } from '../../../own-connectors/test/world.ts';
import { backUp } from '../../src/backup/backup.ts';
import { BackupError } from '../../src/backup/errors.ts';
import { restore } from '../../src/backup/restore.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const keys = keysOfVariable();
let source: TestService;
let admin: TestPerson;
let workflowId: number;
let credentialId: number;

beforeAll(async () => {
  source = await startTestService({ runsWorker: false, deps: { secretKeys: keys } });
  admin = await createPerson(source, 'org_admin');
  const params = { org: admin.organisationId };
  const upload = (file: JsonObject) =>
    admin.call('POST /orgs/:org/connectors', { params, body: { file: JSON.stringify(file) } });
  const fields = { token: 'a-token' };
  const credential = { name: 'Helpdesk', type: 'bearer', hosts: ['helpdesk.example.com'], fields };
  credentialId = (await admin.call('POST /orgs/:org/credentials', { params, body: credential })).data.id;
  await upload(await exampleFile());
  const config = { credential_id: credentialId, queue: 'billing', subject: 'Moved' };
  const body = { name: 'Tickets', flow_data: flowOf('own.helpdesk.create_ticket', config), status: 'active' };
  const made = await admin.call('POST /orgs/:org/workflows', { params, body: body as never });
  expect(made.status, made.text).toBe(200);
  workflowId = made.data.workflow.id;
  expect((await upload({ ...(await exampleFile()), title: 'Support', ja: {} })).data.revision).toBe(2);
});
afterAll(() => source.stop());

async function backedUp(organisationId?: number): Promise<Buffer> {
  const out = new PassThrough();
  const bytes = buffer(out);
  await backUp(source.database.db, keys, out, {
    ...{ productVersion: '1.2.3', passphrase: null, withKeys: true, store: source.deps.store },
    ...(organisationId === undefined ? {} : { organisationId }),
  });
  return bytes;
}

const OPTIONS = {
  askPassphrase: () => Promise.reject(new BackupError('backup_passphrase', 'asked')),
  placeKeys: async () => {},
  keys: { own: keys, given: [] },
  isPaused: false,
  registry,
  files: null,
};

/** The title by which the saved version of a workflow knows its connector's operation. */
async function titleIn(db: TestService['database']['db'], id: number): Promise<string | undefined> {
  const [row] = await db.query<{ flow_data: string }>(
    'SELECT flow_data FROM workflow_versions WHERE workflow_id = $1 AND version = 1',
    [id],
  );
  const types = await typesToRun(registry, db, { workflowId: id, version: 1 }, row?.flow_data ?? '');
  expect(types.isFinal).toBe(true);
  return types.registry('own.helpdesk.create_ticket')?.title;
}

test('a backup contains connectors, their revisions, and with which of them workflows run', async () => {
  const bytes = await backedUp();
  const target = await createTestDatabase();
  await restore(target.db, Readable.from([bytes]), OPTIONS);
  expect(await titleIn(target.db, workflowId)).toBe('Helpdesk: Create a ticket');
  expect(await target.db.query('SELECT name, revision FROM own_connectors')).toEqual([
    { name: 'helpdesk', revision: 2 },
  ]);
  await target.drop();
});

test('a moved organisation has them, and the credentials of their nodes have their new ids', async () => {
  await pauseOrganisation(source.database.db, admin.organisationId, { actor: 'operator' });
  const bytes = await backedUp(admin.organisationId);
  const target = await startTestService({ runsWorker: false, deps: { secretKeys: keys } });
  const other = await createPerson(target, 'org_admin');
  const params = { org: other.organisationId };
  for (let count = 0; count < 3; count += 1) {
    const fields = { token: 'another' };
    const body = { name: `Other ${count}`, type: 'bearer', hosts: ['example.com'], fields };
    await other.call('POST /orgs/:org/credentials', { params, body });
    await other.call('POST /orgs/:org/workflows', { params, body: { name: 'Other' } });
  }
  await restore(target.database.db, Readable.from([bytes]), OPTIONS);
  const { db } = target.database;
  const [row] = await db.query<{ id: number; credential_id: number; named: number }>(
    `SELECT w.id, c.id AS credential_id,
       (v.flow_data #>> '{nodes,1,data,config,credential_id}')::bigint AS named
     FROM workflows w JOIN workflow_versions v ON v.workflow_id = w.id
     JOIN credentials c ON c.organisation_id = w.organisation_id WHERE w.name = 'Tickets'`,
  );
  expect(row?.credential_id).not.toBe(credentialId);
  expect(row?.named).toBe(row?.credential_id);
  expect(await titleIn(db, row?.id ?? 0)).toBe('Helpdesk: Create a ticket');
  await target.stop();
});
