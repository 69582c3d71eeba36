import { issueKey } from '@millrace/identity/api-keys/keys';
import { createOrganisation } from '@millrace/identity/organisations/store';
import { createAdminClient, createPerson } from '@millrace/testing/admin';
import { expect, it } from 'vitest';
import { exampleFile } from '../../../own-connectors/test/world.ts';
import { Client } from './support/client.ts';
import { useWorld } from './support/use-world.ts';

const world = useWorld();

it('a connector uploaded through one process: palette, checks and worker of another have the new revision at once', async () => {
  const { db, receiver } = world();
  receiver.on('/api/queues/billing/tickets', () => {
    const headers = { 'content-type': 'application/json' };
    return { status: 201, headers, body: JSON.stringify({ id: 7, url: 'https://helpdesk.example.com/7' }) };
  });
  // Only the second one runs executions.
  const uploads = await world().api();
  const runs = await world()
    .spawn('start')
    .then((service) => service.ready());
  const { id: organisationId } = await createOrganisation(db, 'Two', { actor: 'operator' });
  const host = { url: uploads.url, database: { db }, deps: { config: { publicUrl: uploads.url } } };
  const createOrg = async () => organisationId;
  const admin = await createPerson({ ...host, createOrganisation: createOrg }, 'org_admin', {
    organisationId,
  });
  const scopes = ['executions:read'] as const;
  const key = await issueKey(db, { organisationId, name: 'reads', scopes }, { actor: 'operator' });
  const reads = new Client(uploads.url, key.text);
  const there = createAdminClient(runs.url, admin.cookie);
  const params = { org: admin.organisationId };
  const { authentication: _none, ...file } = await exampleFile(new URL(receiver.url('/')).origin);
  const [create, list] = file.operations as { readonly id: string }[];
  const revision = async (output: object) => {
    const body = { file: JSON.stringify({ ...file, operations: [{ ...create, output }, list] }) };
    const { data, status, text } = await admin.call('POST /orgs/:org/connectors', { params, body });
    expect(status, text).toBe(200);
    return data.revision;
  };
  const run = async (id: number) => {
    const started = await admin.call('POST /orgs/:org/workflows/:id/run', {
      params: { ...params, id },
      body: { input: {}, is_test_mode: false },
    });
    expect(started.status, started.text).toBe(200);
    const ended = await reads.get<{ status: string; node_outputs: { own?: { output: unknown } } }>(
      `/executions/${started.data.execution_id}?wait=60`,
    );
    expect(ended.status).toBe('completed');
    return ended.node_outputs.own?.output;
  };

  expect(await revision({ id: '{{args.response.body.id}}' })).toBe(1);
  const types = await there('GET /orgs/:org/connector-types', { params });
  expect(types.data.items[0]?.items.map(({ type }) => type)).toContain('own.helpdesk.create_ticket');
  const nodes = [
    { id: 'start', type: 'trigger.manual', data: {} },
    {
      id: 'own',
      type: 'own.helpdesk.create_ticket',
      data: { config: { queue: 'billing', subject: 'Smoke' } },
    },
  ];
  const flow = { nodes, edges: [{ source: 'start', target: 'own' }] };
  const made = await there('POST /orgs/:org/workflows', {
    params,
    body: { name: 'Tickets', status: 'active', flow_data: flow as never },
  });
  expect(made.status, made.text).toBe(200);
  const { id } = made.data.workflow;
  expect(await run(id)).toEqual({ id: 7 });

  expect(await revision({ number: '{{args.response.body.id}}' })).toBe(2);
  // What was saved stays; the other process updates it, and its worker runs the new revision.
  expect(await run(id)).toEqual({ id: 7 });
  const renewed = await there('POST /orgs/:org/connectors/:connector/workflows', {
    params: { ...params, connector: 'helpdesk' },
    body: { after: 0 },
  });
  expect(renewed.data).toEqual({ saved: 1, refused: [], next: null });
  expect(await run(id)).toEqual({ number: 7 });
});
