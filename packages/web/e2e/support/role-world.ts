import { randomBytes } from 'node:crypto';
import { ROLES, type Role } from '@millrace/admin-api';
import { createVectorService } from '@millrace/ports/vectors';
import { prepareSecretKeys } from '@millrace/secrets/keys';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { vi } from 'vitest';
import { exampleFile } from '../../../own-connectors/test/world.ts';
import { type BrowserService, openBrowserService } from './browser-service.ts';
import { createWorkflow } from './editor.ts';

/** One organisation with a user of each role, and one of everything to act on. */
export interface RoleWorld extends BrowserService {
  readonly people: { readonly [R in Role]: TestPerson };
  readonly workflowId: number;
  /** Active, and started by a trigger that polls. */
  readonly pollingId: number;
  /** Remembers a conversation. */
  readonly rememberingId: number;
  readonly failedId: number;
  readonly waitingId: number;
  /** Values for path parameters of the admin API: ids that exist. */
  readonly params: { readonly [name: string]: string | number };
}

const ORDERS = {
  nodes: [
    { id: 'hook', type: 'trigger.webhook', position: { x: 0, y: 0 }, data: { label: 'Order placed' } },
    {
      id: 'refuse',
      type: 'core.fail',
      position: { x: 280, y: 0 },
      data: { label: 'Refuse', config: { code: 'out_of_stock', message: 'Nothing left' } },
    },
  ],
  edges: [{ id: 'hook-refuse', source: 'hook', target: 'refuse' }],
};

const REMEMBERING = {
  nodes: [
    { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 }, data: {} },
    {
      id: 'answer',
      type: 'ai.generate',
      position: { x: 280, y: 0 },
      data: { label: 'Answerer', config: { memory_key: 'the help desk' } },
    },
  ],
  edges: [{ id: 'start-answer', source: 'start', target: 'answer' }],
};

const LISTING = {
  nodes: [
    { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 }, data: {} },
    { id: 'list', type: 'own.helpdesk.list_tickets', position: { x: 280, y: 0 }, data: {} },
  ],
  edges: [{ id: 'start-list', source: 'start', target: 'list' }],
};

const ASKING = {
  nodes: [
    { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 }, data: {} },
    {
      id: 'ask',
      type: 'wait.approval',
      position: { x: 280, y: 0 },
      data: { config: { title: 'Refund it?' } },
    },
  ],
  edges: [{ id: 'start-ask', source: 'start', target: 'ask' }],
};

/** Its polls fail, since private addresses are refused. */
const FOLLOWING = {
  nodes: [
    {
      id: 'feed',
      type: 'trigger.rss',
      position: { x: 0, y: 0 },
      data: { label: 'News', config: { url: 'http://127.0.0.1/feed' } },
    },
    { id: 'keep', type: 'core.set', position: { x: 280, y: 0 }, data: { config: { values: {} } } },
  ],
  edges: [{ id: 'feed-keep', source: 'feed', target: 'keep' }],
};

export async function openRoleWorld(): Promise<RoleWorld> {
  const world = await openBrowserService({
    config: { secretKeys: { current: randomBytes(32), previous: [] } },
  });
  const { service } = world;
  await prepareSecretKeys(service.deps.db, service.deps.secretKeys, { makesKey: true });
  const org = await service.createOrganisation();
  const entries: (readonly [Role, TestPerson])[] = [];
  for (const role of ROLES) {
    const email = `${role}@example.com`;
    entries.push([role, await createPerson(service, role, { organisationId: org, email })]);
  }
  const people = Object.fromEntries(entries) as { readonly [R in Role]: TestPerson };
  const made = await furnish(people.org_admin, people.viewer);
  const { db } = service.database;
  const states = [
    { id: made.failedId, status: 'failed' },
    { id: made.waitingId, status: 'waiting_async' },
  ];
  await vi.waitUntil(
    async () => {
      const rows = await db.query<{ id: number; status: string }>('SELECT id, status FROM executions');
      return states.every((wanted) =>
        rows.some((row) => row.id === wanted.id && row.status === wanted.status),
      );
    },
    { timeout: 120_000 },
  );
  await db.query('UPDATE api_keys SET locked_at = now() WHERE id = $1', [made.params.key]);
  await db.query(
    `INSERT INTO ai_memories (workflow_id, organisation_id, key, turns, bytes, expires_at)
     VALUES ($1, $2, 'the help desk', '[]', 2, now() + interval '1 day')`,
    [made.rememberingId, org],
  );
  await createVectorService({ db, maxBytes: 0 })({ organisationId: org }).put(
    'product guides',
    { model: 'small', dimension: 2 },
    [{ key: 'reset', text: 'Reset the device', metadata: {}, vector: [3, 4] }],
  );
  return { ...world, people, ...made };
}

async function furnish(
  admin: TestPerson,
  viewer: TestPerson,
): Promise<
  Pick<RoleWorld, 'workflowId' | 'pollingId' | 'rememberingId' | 'failedId' | 'waitingId' | 'params'>
> {
  const { organisationId: org, call } = admin;
  const workflowId = await createWorkflow(admin, 'Orders', ORDERS);
  const label = { ...ORDERS, settings: { display_name: 'Order' } };
  await call('POST /orgs/:org/workflows/:id/versions', {
    params: { org, id: workflowId },
    body: { flow_data: label as never, base_version: 1 },
  });
  const archived = await createWorkflow(admin, 'Old orders', ORDERS);
  await call('POST /orgs/:org/workflows/:id/archive', { params: { org, id: archived } });
  const asking = await createWorkflow(admin, 'Refunds', ASKING);
  const following = await call('POST /orgs/:org/workflows', {
    params: { org },
    body: { name: 'News', flow_data: FOLLOWING as never, status: 'active' },
  });
  const pollingId = following.data.workflow.id;
  const rememberingId = await createWorkflow(admin, 'Help desk', REMEMBERING);
  const run = async (id: number) =>
    (await call('POST /orgs/:org/workflows/:id/run', { params: { org, id }, body: { input: {} } })).data
      .execution_id;
  const failedId = await run(workflowId);
  const waitingId = await run(asking);
  const folder = await call('POST /orgs/:org/folders', { params: { org }, body: { name: 'Shop' } });
  const key = await call('POST /orgs/:org/keys', {
    params: { org },
    body: { name: 'Import', scopes: ['workflows:read'], expires_at: null },
  });
  const credential = await call('POST /orgs/:org/credentials', {
    params: { org },
    body: { name: 'Shop token', type: 'bearer', hosts: ['shop.example.com'], fields: { token: 'secret' } },
  });
  await call('POST /orgs/:org/credentials', {
    params: { org },
    body: {
      ...{ name: 'Shop account', type: 'oauth2', hosts: ['shop.example.com'] },
      fields: {
        client_id: 'millrace',
        authorization_url: 'https://shop.example.com/authorize',
        token_url: 'https://shop.example.com/token',
      },
    },
  });
  const signs = await call('POST /orgs/:org/credentials', {
    params: { org },
    body: { name: 'Alert signature', type: 'secret', hosts: [], fields: { value: 'c2VjcmV0' } },
  });
  const rule = await call('POST /orgs/:org/alert-rules', {
    params: { org },
    body: {
      ...{ name: 'Failing imports', kind: 'failure', workflow_id: null, count: null, seconds: null },
      channel: 'webhook',
      target: { credential_id: signs.data.id, url: 'https://alerts.example.com/' },
      ...{ language: 'en', group_seconds: 0, quiet_hours: null, is_enabled: true },
    },
  });
  const connector = await exampleFile();
  const upload = (file: object) =>
    call('POST /orgs/:org/connectors', { params: { org }, body: { file: JSON.stringify(file) } });
  await upload(connector);
  await createWorkflow(admin, 'Tickets', LISTING);
  await upload({ ...connector, title: 'Support desk', ja: {} });
  const invited = { role: 'viewer', email: 'guest@example.com' } as const;
  await call('POST /orgs/:org/invitations', { params: { org }, body: invited });
  const invitations = await call('GET /orgs/:org/invitations', { params: { org } });
  const params = {
    org,
    id: workflowId,
    version: 1,
    execution: waitingId,
    node: 'ask',
    folder: folder.data.id,
    key: key.data.key.id,
    credential: credential.data.id,
    rule: rule.data.id,
    invitation: invitations.data.items[0]?.id ?? 0,
    member: viewer.memberId,
    user: viewer.userId,
    // A forbidden role must get the same response whether or not it exists.
    approval: 1,
    connector: 'helpdesk',
  };
  return { workflowId, pollingId, rememberingId, failedId, waitingId, params };
}
