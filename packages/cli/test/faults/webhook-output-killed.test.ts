import { randomBytes } from 'node:crypto';
import { addCredential } from '@millrace/credentials/credentials';
import { createSecretKeys } from '@millrace/secrets/keys';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/settings/config.ts';
import { chain } from './support/client.ts';
import { finished, parked } from './support/ledger.ts';
import type { Received } from './support/receiver.ts';
import { LONG_LEASE } from './support/service-process.ts';
import { until } from './support/until.ts';
import { useWorld } from './support/use-world.ts';

/** All processes of one service share it. */
const KEY = { MILLRACE_SECRET_KEY: randomBytes(32).toString('base64') };
const world = useWorld(KEY);

/** So long that no attempt starts by itself during the test. */
const DELAY_S = 36_000;

interface Detail {
  readonly node_outputs: {
    readonly [id: string]: {
      readonly status: string;
      readonly attempts: number;
      readonly output: { readonly webhook_id: string; readonly deliveries: readonly Delivery[] };
    };
  };
}

interface Delivery {
  readonly attempt: number;
  readonly at: string;
  readonly status: number | null;
  readonly duration_ms: number;
  readonly error: string | null;
}

async function addSecret(): Promise<number> {
  const { db } = world();
  const [organisation] = await db.query<{ id: number }>('SELECT id FROM organisations');
  const organisationId = organisation?.id ?? 0;
  const fields = { value: `whsec_${randomBytes(24).toString('base64')}` };
  const keys = createSecretKeys(loadConfig(KEY));
  const name = randomBytes(4).toString('hex');
  const given = { organisationId, name, type: 'secret', hosts: [], fields } as const;
  return (await addCredential({ db, keys }, given, { actor: 'operator' })).id;
}

/** Starts an execution that posts to the receiver's path, and returns its id. */
async function deliverTo(path: string, api: Awaited<ReturnType<ReturnType<typeof world>['api']>>) {
  const config = {
    url: world().receiver.url(path),
    credential_id: await addSecret(),
    event_type: 'order.paid',
    payload: { marker: '{{trigger.data.marker}}' },
    retry_delays_s: [DELAY_S],
  };
  const client = world().client(api);
  const workflow = await client.createWorkflow(
    path,
    chain({ id: 'deliver', type: 'http.webhook_output', config }),
  );
  return client.accept(workflow, 'm');
}

/** Makes the next attempt due. Its time is stored only in the database. */
async function letTimePass(id: number): Promise<void> {
  await world().db.query(
    `WITH woken AS (UPDATE executions SET wake_at = now() WHERE id = $1 AND status = 'waiting_async' RETURNING id)
     UPDATE execution_checkpoints c
     SET records = regexp_replace(records::text, '"wakeAtMs":\\d+', '"wakeAtMs":0')::json
     FROM woken WHERE c.execution_id = woken.id`,
    [id],
  );
}

const idOf = ({ headers }: Received): unknown => headers['webhook-id'];

describe('SIGKILL of all processes', () => {
  it('between two attempts of a webhook: the next attempt has the same id, and the log has both', async () => {
    const { db, receiver } = world();
    receiver.on('/partner', (_, nth) => (nth === 1 ? 503 : 200));
    const api = await (await world().spawn('api')).ready();
    const worker = await world().worker(LONG_LEASE);
    const id = await deliverTo('/partner', api);
    await receiver.arrival('/partner', 1);
    await parked(world().db, id);
    await Promise.all([api.end('SIGKILL'), worker.end('SIGKILL')]);
    await letTimePass(id);
    expect(receiver.to('/partner')).toHaveLength(1);

    const again = await world().api();
    await world().worker(LONG_LEASE);
    expect(await finished(db, id)).toMatchObject({ status: 'completed', crashed_attempts: 0 });

    const [first, second, ...others] = receiver.to('/partner');
    expect(others).toEqual([]);
    expect(second && idOf(second)).toBe(first && idOf(first));
    expect(second?.body).toEqual(first?.body);
    const detail = await world().client(again).get<Detail>(`/executions/${id}`);
    const { status, attempts, output } = detail.node_outputs.deliver ?? {};
    expect({ status, attempts }).toEqual({ status: 'success', attempts: 2 });
    expect(output?.webhook_id).toBe(first && idOf(first));
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(output?.deliveries).toEqual([
      { attempt: 1, at: time, status: 503, duration_ms: expect.any(Number), error: 'status 503' },
      { attempt: 2, at: time, status: 200, duration_ms: expect.any(Number), error: null },
    ]);
    for (const { duration_ms } of output?.deliveries ?? []) expect(duration_ms).toBeGreaterThanOrEqual(0);
  });

  it('during the second attempt: it is repeated with the same id, and the first is still in the log', async () => {
    const { db, receiver } = world();
    let answer: (status: number) => void = () => undefined;
    const held = new Promise<number>((resolve) => {
      answer = resolve;
    });
    receiver.on('/slow', (_, nth) => (nth === 1 ? 503 : nth === 2 ? held : 200));
    const api = await world().api();
    const victim = await world().worker(LONG_LEASE);
    const id = await deliverTo('/slow', api);
    await receiver.arrival('/slow', 1);
    await parked(world().db, id);
    await letTimePass(id);
    await receiver.arrival('/slow', 2);
    await world().killForGood(victim);
    answer(200);

    await world().worker(LONG_LEASE);
    expect(await finished(db, id)).toMatchObject({ status: 'completed', crashed_attempts: 1 });
    const calls = receiver.to('/slow');
    expect(calls).toHaveLength(3);
    expect(new Set(calls.map(idOf)).size).toBe(1);
    const detail = await world().client(api).get<Detail>(`/executions/${id}`);
    const { deliveries = [] } = detail.node_outputs.deliver?.output ?? {};
    expect(deliveries.map(({ status }) => status)).toEqual([503, 200]);
  });

  it('while an alert is being sent: it is sent again under the same id, and is in the history once', async () => {
    const { db, receiver } = world();
    const sending = receiver.hold('/alerts');
    const sender = await world().worker(LONG_LEASE);
    const ruleId = await addAlertRule(receiver.url('/alerts'));
    await failOne(ruleId);
    await receiver.arrival('/alerts', 1);
    await world().killForGood(sender);
    sending.release();

    const claims = await db.query(
      `UPDATE alert_messages SET claimed_until = now() WHERE rule_id = $1 AND status = 'pending' RETURNING attempts`,
      [ruleId],
    );
    expect(claims).toEqual([{ attempts: 1 }]);
    await world().worker(LONG_LEASE);
    const messages = () =>
      db.query('SELECT status, attempts FROM alert_messages WHERE rule_id = $1 AND ended_at IS NOT NULL', [
        ruleId,
      ]);
    await until('the outcome of the alert', async () => (await messages()).length > 0);
    expect(await messages()).toEqual([{ status: 'sent', attempts: 2 }]);
    const [first, second, ...others] = receiver.to('/alerts');
    expect(others).toEqual([]);
    expect(second && idOf(second)).toBe(first && idOf(first));
    expect(second?.body).toEqual(first?.body);
  });
});

/** Tells the URL about every failure of the organisation. */
async function addAlertRule(url: string): Promise<number> {
  const target = JSON.stringify({ credential_id: await addSecret(), url });
  const [rule] = await world().db.query<{ id: number }>(
    `INSERT INTO alert_rules (organisation_id, name, kind, channel, target, language, group_seconds)
     SELECT id, 'failures', 'failure', 'webhook', $1::json, 'en', 0 FROM organisations RETURNING id`,
    [target],
  );
  return rule?.id ?? 0;
}

/** Ends an execution of a new workflow as failed, as a worker would. */
async function failOne(ruleId: number): Promise<void> {
  await world().db.query(
    `WITH workflow AS (
       INSERT INTO workflows (organisation_id, name, status, version, webhook_hash)
       SELECT organisation_id, 'fails', 'active', 1, rpad('', 43, 'f') FROM alert_rules WHERE id = $1 RETURNING id, organisation_id
     ), version AS (
       INSERT INTO workflow_versions (workflow_id, version, organisation_id, flow_data)
       SELECT id, 1, organisation_id, '{"nodes": [], "edges": []}' FROM workflow
     )
     INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name, is_test_mode,
       input, error, started_at, completed_at)
     SELECT organisation_id, id, 1, 'failed', 'api', 'fails', false, '{}',
       '{"code": "broken", "message": "it broke", "node_id": null, "iteration": []}', now(), now() + interval '1 second'
     FROM workflow`,
    [ruleId],
  );
}
