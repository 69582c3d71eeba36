import { describe, expect, it } from 'vitest';
import { type Client, chain, post, type Start, set } from './support/client.ts';
import { allFinished } from './support/ledger.ts';
import { Load, retryUntilAccepted } from './support/load.ts';
import { LEASE_MS, type ServiceProcess } from './support/service-process.ts';
import { until } from './support/until.ts';
import { useWorld } from './support/use-world.ts';

const world = useWorld();
const CLIENTS = 8;

/** The service in one process (accepts and runs), plus a worker. */
async function startService(
  path: string,
): Promise<{ client: Client; workflow: number; services: ServiceProcess[] }> {
  const whole = await (await world().spawn('start')).ready();
  const client = world().client(whole);
  const flow = chain(
    set('shape', { marker: '{{trigger.data.marker}}' }),
    post('tell', world().receiver.url(path)),
  );
  const workflow = await client.createWorkflow(path, flow);
  return { client, workflow, services: [whole, await world().worker()] };
}

/** Invariants for all starts once the load is over, whatever happened in between. */
async function expectNothingLost(
  client: Client,
  workflow: number,
  starts: readonly Start[],
  path: string,
): Promise<void> {
  for (const { answer } of starts) {
    // The responding process is never killed here, so every client gets a response.
    expect(answer.kind).not.toBe('cut');
    if (answer.kind !== 'refused') continue;
    expect(answer, answer.body).toMatchObject({ status: 503 });
    expect(answer.retryAfter).toMatch(/^\d+$/);
  }
  const retried = await Promise.all(
    starts.filter(({ key }) => key !== null).map((start) => retryUntilAccepted(client, workflow, start)),
  );
  const rows = await allFinished(world().db, workflow);
  expect(rows.filter((row) => row.status !== 'completed')).toEqual([]);

  const idsByMarker = Map.groupBy(rows, (row) => row.marker);
  // At most one execution per request; exactly one for a request that was accepted or has a key.
  for (const { marker, key, answer } of starts) {
    const ids = (idsByMarker.get(marker) ?? []).map((row) => row.id);
    if (answer.kind === 'accepted') expect(ids).toEqual([answer.executionId]);
    else expect(ids.length).toBeLessThanOrEqual(1);
    if (key !== null) expect(ids).toHaveLength(1);
  }
  for (const again of retried) {
    const first = starts.find(({ marker }) => marker === again.marker)?.answer;
    if (first?.kind === 'accepted') expect(again.answer).toMatchObject({ isReplay: true, body: first.body });
  }

  const deliveries = Map.groupBy(
    world().receiver.to(path),
    ({ body }) => (body as { marker: string }).marker,
  );
  expect(new Set(deliveries.keys())).toEqual(new Set(rows.map((row) => row.marker)));
  const keys = [...deliveries.values()].map(
    (requests) => new Set(requests.map((request) => request.deliveryKey)),
  );
  expect(keys.filter((each) => each.size !== 1)).toEqual([]);
  expect(new Set(keys.flatMap((each) => [...each])).size).toBe(rows.length);
}

describe('PostgreSQL under a load of starts', () => {
  it.each([
    ['for a moment', 0],
    ['for longer than the leases last', LEASE_MS + 500],
  ])(
    'SIGKILL, away %s: no acknowledged start is lost, clients see 202 and 503 only, and the service recovers',
    async (_, awayMs) => {
      const path = `/killed/${awayMs}`;
      const { client, workflow, services } = await startService(path);
      const load = new Load(client, workflow, CLIENTS);
      await until('some starts', () => load.accepted >= 60);
      await world().cluster.kill();
      const killedAt = performance.now();
      await until('refusals', () => {
        const isRefused = load.starts.some(({ answer }) => answer.kind === 'refused');
        return isRefused && performance.now() - killedAt > awayMs;
      });
      const accepted = load.accepted;
      await world().cluster.restart();
      await until('starts after the restart', () => load.accepted >= accepted + 60);
      await expectNothingLost(client, workflow, await load.stop(), path);
      expect(services.every((service) => service.isRunning)).toBe(true);
    },
  );

  it('pg_terminate_backend on all sessions, repeatedly: the same', async () => {
    const { client, workflow, services } = await startService('/terminated');
    const load = new Load(client, workflow, CLIENTS);
    for (let round = 1; round <= 8; round += 1) {
      const accepted = load.accepted;
      await until(`starts in round ${round}`, () => load.accepted >= accepted + 25);
      expect(await world().cluster.terminateSessions()).toBeGreaterThan(0);
    }
    const accepted = load.accepted;
    await until('starts at the end', () => load.accepted >= accepted + 25);
    await expectNothingLost(client, workflow, await load.stop(), '/terminated');
    expect(services.every((service) => service.isRunning)).toBe(true);
  });
});
