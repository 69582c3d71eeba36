import { notePollFailure } from '@millrace/alerts/polls';
import type { HttpClient } from '@millrace/engine';
import { Listener } from '@millrace/listening/listener';
import { Poller } from '@millrace/polling/poller';
import { Worker } from '@millrace/runtime/worker';
import { createTestServices } from '@millrace/testing/service';
import type { World } from './world.ts';

/** The world's service, as one that reaches services on the Internet. */
export interface Reached {
  /** Polls for an active workflow. @returns the executions that this started, oldest first */
  poll(workflowId: number): Promise<readonly number[]>;
  stop(): Promise<void>;
}

/**
 * Puts a worker in place of the world's that reaches services on the Internet in the world outside of the tests, at a path that begins
 * with their host: operations and triggers of connectors know no other address.
 */
export async function reachServices(world: World): Promise<Reached> {
  const { deps, worker: first } = world.service;
  const http = (organisationId: number): HttpClient => {
    const client = deps.egress.http(organisationId);
    return {
      send: (request, ...rest) =>
        client.send(
          { ...request, url: request.url.replace(/^https?:\/(?!\/127\.0\.0\.1)/, world.outside.url) },
          ...rest,
        ),
    };
  };
  const egress = Object.create(deps.egress, { http: { value: http } }) as typeof deps.egress;
  const { services, slots } = createTestServices({ ...deps, egress });
  const worker = new Worker({ ...deps, http, services, slots });
  await first?.stop();
  await worker.start();
  const poller = new Poller({
    ...deps,
    ...{ http, services, maxSteps: 1_000_000, maxItemBytes: deps.config.limits.bodyBytes },
    ...{ enterQueue: async () => () => undefined, tellAlerts: notePollFailure },
  });
  return {
    async poll(workflowId) {
      const before = await world.executionsOf(workflowId);
      await deps.db.query('UPDATE polls SET next_poll_at = now() WHERE workflow_id = $1', [workflowId]);
      await poller.runDue();
      const after = await world.executionsOf(workflowId);
      return after.filter((id) => !before.includes(id)).reverse();
    },
    async stop() {
      await poller.stop();
      await worker.stop();
      await services.close();
    },
  };
}

/** Keeps the connections of active workflows whose triggers listen, as a running service does. @returns stops it */
export async function listen({ service: { deps } }: World): Promise<() => Promise<void>> {
  const { services } = createTestServices(deps);
  const listener = new Listener({
    ...deps,
    ...{ http: deps.egress.http, sockets: deps.egress.sockets, fetch: deps.egress.fetch, services },
    ...{ maxSteps: 1_000_000, maxItemBytes: deps.config.limits.bodyBytes, pauseMs: 50 },
    ...{ enterQueue: async () => () => undefined, tellAlerts: notePollFailure },
  });
  await listener.start();
  return async () => {
    await listener.stop();
    await services.close();
  };
}
