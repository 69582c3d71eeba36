import { randomBytes } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { notePollFailure } from '@millrace/alerts/polls';
import { parseJson } from '@millrace/engine';
import type { PollDeps } from '@millrace/polling/poll';
import { Poller } from '@millrace/polling/poller';
import { prepareSecretKeys } from '@millrace/secrets/keys';
import {
  createTestServices,
  startTestService,
  type TestKey,
  type TestService,
} from '@millrace/testing/service';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';

/** What a source answers. */
export interface Answer {
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
  readonly body: unknown;
}

/** A service without worker, pollers on its database like those of several processes, and a source that they poll. */
export function usePolling() {
  let service: TestService;
  let services: ReturnType<typeof createTestServices>['services'];
  let key: TestKey;
  let server: Server;
  /** What the source answers next; a function may wait. */
  let source: () => Promise<Answer> | Answer;
  let requests: string[] = [];
  let authorizations: (string | undefined)[] = [];

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
    server = createServer((request, response) => {
      requests.push(request.url ?? '');
      authorizations.push(request.headers.authorization);
      void answer(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  async function answer(response: ServerResponse): Promise<void> {
    const { status = 200, headers = {}, body } = await source();
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
  }

  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await services.close();
    await service.stop();
  });
  beforeEach(async () => {
    requests = [];
    authorizations = [];
    key = await service.createKey();
  });
  afterEach(() => service.database.db.query('DELETE FROM polls'));

  const url = (path = '/') => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

  /** One more poller on the same database, as in another process. */
  function poller(more: Partial<PollDeps> = {}): Poller {
    const { deps } = service;
    return new Poller({
      ...deps,
      ...{ http: deps.egress.http, services, maxSteps: 1_000_000, maxItemBytes: 10_000 },
      ...{ enterQueue: async () => () => undefined, tellAlerts: notePollFailure },
      ...more,
    });
  }

  async function create(config: object, type = 'trigger.poll', status = 'active'): Promise<number> {
    const nodes = [
      { id: 'start', type, data: { config } },
      { id: 'set', type: 'core.set', data: { config: { values: { done: true } } } },
    ];
    const flow = { nodes, edges: [{ source: 'start', target: 'set' }] };
    const answer = await service.api('POST', '/workflows', {
      key,
      body: { name: 'polls', flow_data: flow, status },
    });
    if (answer.status !== 201) throw new Error(answer.text);
    return answer.json.id;
  }

  async function change(id: number, body: object): Promise<void> {
    const answer = await service.api('PUT', `/workflows/${id}`, { key, body });
    if (answer.status !== 200) throw new Error(answer.text);
  }

  /** Makes a poll due and polls. */
  async function poll(id: number, by = poller()): Promise<void> {
    await service.database.db.query('UPDATE polls SET next_poll_at = now() WHERE workflow_id = $1', [id]);
    await by.runDue();
  }

  /** Data of the executions that were started, in their order. */
  async function started(id: number) {
    const rows = await service.database.db.query<{ input: string; trigger_type: string }>(
      'SELECT input, trigger_type FROM executions WHERE workflow_id = $1 ORDER BY id',
      [id],
    );
    expect(rows.every(({ trigger_type: type }) => type === 'poll')).toBe(true);
    return rows.map(({ input }) => parseJson(input));
  }

  async function stateOf(id: number) {
    const [row] = await service.database.db.query<{
      failures: number;
      last_error: string | null;
      is_primed: boolean;
      is_told: boolean;
      is_active: boolean;
      pause_s: number;
    }>(
      `SELECT failures, last_error, is_primed, is_told, next_poll_at IS NOT NULL AS is_active,
         extract(epoch FROM next_poll_at - last_poll_at)::double precision AS pause_s
       FROM polls WHERE workflow_id = $1`,
      [id],
    );
    if (row === undefined) throw new Error('the workflow does not poll');
    return { ...row, code: row.last_error === null ? null : JSON.parse(row.last_error).code };
  }

  return {
    ...{ url, poller, create, change, poll, started, stateOf },
    get service() {
      return service;
    },
    get services() {
      return services;
    },
    get key() {
      return key;
    },
    set key(made: TestKey) {
      key = made;
    },
    get source() {
      return source;
    },
    set source(next: typeof source) {
      source = next;
    },
    get requests() {
      return requests;
    },
    set requests(next: string[]) {
      requests = next;
    },
    get authorizations() {
      return authorizations;
    },
  };
}
