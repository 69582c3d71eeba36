import { randomBytes } from 'node:crypto';
import { notePollFailure } from '@millrace/alerts/polls';
import type { CredentialType } from '@millrace/engine';
import { type JsonObject, parseJson } from '@millrace/engine';
import { Listener, type ListenerDeps } from '@millrace/listening/listener';
import { prepareSecretKeys } from '@millrace/secrets/keys';
import { createPerson } from '@millrace/testing/admin';
import {
  createTestServices,
  startTestService,
  type TestKey,
  type TestService,
} from '@millrace/testing/service';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';

/** Long enough for a busy machine; nothing waits for it to pass. */
export const PATIENCE = { timeout: 60_000, interval: 50 };

/** A service without worker, and listeners on its database like those of several processes. */
export function useListening() {
  let service: TestService;
  let services: ReturnType<typeof createTestServices>['services'];
  let person: Awaited<ReturnType<typeof createPerson>>;
  let key: TestKey;
  const listeners: Listener[] = [];

  beforeAll(async () => {
    service = await startTestService({
      runsWorker: false,
      config: {
        allowHosts: ['127.0.0.1', 'localhost'],
        secretKeys: { current: randomBytes(32), previous: [] },
      },
    });
    await prepareSecretKeys(service.deps.db, service.deps.secretKeys, { makesKey: true });
    ({ services } = createTestServices(service.deps));
  });
  beforeEach(async () => {
    person = await createPerson(service, 'org_admin');
    key = await service.createKey({ organisationId: person.organisationId });
  });
  afterEach(async () => {
    await Promise.all(listeners.splice(0).map((each) => each.stop()));
    await service.database.db.query('DELETE FROM polls');
  });
  afterAll(async () => {
    await services.close();
    await service.stop();
  });

  const db = () => service.database.db;

  /** One more process that listens. */
  async function listener(more: Partial<ListenerDeps> = {}): Promise<Listener> {
    const { deps } = service;
    const made = new Listener({
      ...deps,
      ...{ http: deps.egress.http, sockets: deps.egress.sockets, fetch: deps.egress.fetch, services },
      ...{ maxSteps: 1_000_000, maxItemBytes: 1_000_000, pauseMs: 50 },
      ...{ enterQueue: async () => () => undefined, tellAlerts: notePollFailure },
      ...more,
    });
    listeners.push(made);
    await made.start();
    return made;
  }

  async function credential(
    type: CredentialType,
    fields: JsonObject,
    hosts: readonly string[] = [],
  ): Promise<number> {
    const body = { name: `${type} ${randomBytes(4).toString('hex')}`, type, fields, hosts };
    const answer = await person.call('POST /orgs/:org/credentials', {
      params: { org: person.organisationId },
      body: body as never,
    });
    return answer.data.id;
  }

  async function workflow(type: string, config: JsonObject, more: JsonObject = {}): Promise<number> {
    const nodes = [
      { id: 'start', type, data: { config } },
      { id: 'set', type: 'core.set', data: { config: { values: { done: true } } } },
    ];
    const flow = { nodes, edges: [{ source: 'start', target: 'set' }] };
    const body = { name: 'listens', flow_data: flow, status: 'active', ...more };
    const answer = await service.api('POST', '/workflows', { key, body });
    if (answer.status !== 201) throw new Error(answer.text);
    return answer.json.id;
  }

  async function change(id: number, body: object): Promise<void> {
    const answer = await service.api('PUT', `/workflows/${id}`, { key, body });
    if (answer.status !== 200) throw new Error(answer.text);
  }

  /** Data of the executions that were started, in their order. */
  async function started(id: number): Promise<JsonObject[]> {
    const rows = await db().query<{ input: string }>(
      'SELECT input FROM executions WHERE workflow_id = $1 ORDER BY id',
      [id],
    );
    return rows.map(({ input }) => parseJson(input) as JsonObject);
  }

  async function stateOf(id: number) {
    const [row] = await db().query<{
      failures: number;
      last_error: string | null;
      is_told: boolean;
      is_connected: boolean;
      started: number;
      unacknowledged: string | null;
    }>(
      `SELECT failures, last_error, is_told, is_primed AND coalesce(leased_until > now(), false) AS is_connected, started,
         unacknowledged FROM polls WHERE workflow_id = $1`,
      [id],
    );
    if (row === undefined) throw new Error('the workflow does not listen');
    return { ...row, code: row.last_error === null ? null : JSON.parse(row.last_error).code };
  }

  return {
    ...{ db, listener, credential, workflow, change, started, stateOf },
    service: () => service,
    key: () => key,
    organisationId: () => person.organisationId,
    connected: (id: number) => expect.poll(async () => (await stateOf(id)).is_connected, PATIENCE).toBe(true),
    /** Waits until exactly so many executions have been started. */
    startedOf: async (id: number, count: number) => {
      await expect.poll(async () => (await started(id)).length, PATIENCE).toBe(count);
      return started(id);
    },
  };
}
