import { createPerson, type TestPerson } from '@millrace/testing/admin';
import type { TestService } from '@millrace/testing/service';
import { expect, vi } from 'vitest';

const REFUND_FLOW = {
  nodes: [
    { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 }, data: {} },
    {
      id: 'ask',
      type: 'wait.approval',
      position: { x: 300, y: 0 },
      data: {
        label: 'Refund?',
        config: { title: 'Refund 400 EUR to Edsger?', text: 'The desk came with three legs.' },
      },
    },
  ],
  edges: [{ id: 'e1', source: 'start', target: 'ask' }],
};

const CREDENTIALS = [
  { name: 'Shop', type: 'bearer', hosts: ['shop.example.com'], fields: { token: 't' } },
  {
    name: 'Orders database',
    type: 'sql',
    hosts: [],
    fields: {
      dialect: 'postgresql',
      host: 'db.example.com',
      database: 'orders',
      username: 'app',
      password: 'p',
    },
  },
  { name: 'Signature of the shop', type: 'secret', hosts: [], fields: { value: 's' } },
] as const;

/** Creates administrative data: members, invitations, keys in every state, credentials, an approval, samples. */
export async function furnishOffice(service: TestService, person: TestPerson): Promise<void> {
  const { call, organisationId: org } = person;
  const { db } = service.database;
  for (const role of ['viewer', 'editor', 'org_admin'] as const) {
    await createPerson(service, role, { organisationId: org, email: `${role}@example.com` });
  }
  await call('POST /orgs/:org/invitations', {
    params: { org },
    body: { role: 'editor', email: 'new@example.com' },
  });
  for (const body of CREDENTIALS) {
    const { status } = await call('POST /orgs/:org/credentials', {
      params: { org },
      body: { ...body, hosts: [...body.hosts] },
    });
    expect(status).toBe(200);
  }
  await furnishKeys(service, person);
  const { data } = await call('POST /orgs/:org/workflows', {
    params: { org },
    body: { name: 'Refunds', tags: ['sample'], flow_data: REFUND_FLOW as never },
  });
  await call('POST /orgs/:org/workflows/:id/run', { params: { org, id: data.workflow.id }, body: {} });
  await vi.waitFor(
    async () => {
      const asked = await call('GET /orgs/:org/approvals', { params: { org } });
      expect(asked.data.items).toHaveLength(1);
    },
    { timeout: 120_000 },
  );
  // Six hours with a peak and a few failures.
  await db.query(
    `INSERT INTO service_samples (minute, queued, running, waiting, workers, last_execution_id, started, failed, seconds,
       sampled_at, database_bytes)
     SELECT date_trunc('minute', now()) - m * interval '1 minute', greatest(0, round(20 * sin(m / 40.0)))::integer,
       4 + m % 3, 1, 2, 100000 - 40 * m, 40 + round(30 * sin(m / 40.0))::integer, (m % 17 = 0)::integer * 2, 60,
       now() - m * interval '1 minute', greatest(8000000, 10500000 - 2000 * m)
     FROM generate_series(1, 360) AS m ON CONFLICT DO NOTHING`,
  );
}

async function furnishKeys(
  { database: { db } }: TestService,
  { call, organisationId: org }: TestPerson,
): Promise<void> {
  const issue = async (name: string): Promise<number> => {
    const { data } = await call('POST /orgs/:org/keys', {
      params: { org },
      body: { name, scopes: ['executions:execute', 'executions:read'], expires_at: null },
    });
    return data.key.id;
  };
  const set = async (id: number, what: string) => db.query(`UPDATE api_keys SET ${what} WHERE id = $1`, [id]);
  await call('POST /orgs/:org/keys/:key/rotate', { params: { org, key: await issue('Shop system') } });
  await set(await issue('Warehouse'), 'locked_at = now(), consecutive_failures = 10');
  await set(await issue('Bookkeeping'), `created_at = now() - interval '100 days'`);
  await set(await issue('Reports'), `expires_at = now() + interval '5 days'`);
  await call('POST /orgs/:org/keys/:key/revoke', { params: { org, key: await issue('Former shop') } });
}
