import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { addCredential } from '@millrace/credentials/credentials';
import type { Database } from '@millrace/database/database';
import { createGuardedHttpClient } from '@millrace/egress/guarded-client';
import { type CredentialType, type JsonObject, type JsonValue, parseJson } from '@millrace/engine';
import { Worker } from '@millrace/runtime/worker';
import { createSecretKeys } from '@millrace/secrets/keys';
import { dueTime } from '@millrace/service/schedules/due';
import { Scheduler } from '@millrace/service/schedules/scheduler';
import {
  findTemplate,
  joinCompanion,
  setVariable,
  type Template,
} from '@millrace/service/templates/catalogue';
import { type ApiAnswer, send } from '@millrace/testing/api';
import { createTestDatabase } from '@millrace/testing/database';
import { type MailServer, openMailServer } from '@millrace/testing/mail-server';
import { type Outside, openOutside } from '@millrace/testing/outside';
import { openProxy } from '@millrace/testing/proxy';
import {
  createTestServices,
  startTestService,
  type TestKey,
  type TestOverrides,
  type TestService,
} from '@millrace/testing/service';
import { readSchedule } from '@millrace/triggers';
import { expect } from 'vitest';
import type { ExecutionBody } from '../../../runtime/test/worker/service-with-worker.ts';

/** The token of the services that require one. */
export const TOKEN = 'tide-and-weather-4711';

/** A service as a customer has it, and everything its workflows call, all on this machine. */
export interface World {
  readonly service: TestService;
  readonly key: TestKey;
  /** The services, shops and chats that are called. */
  readonly outside: Outside;
  readonly mail: MailServer;
  /** Stores a credential and returns its id. */
  addCredential(type: CredentialType, fields: JsonObject, hosts?: readonly string[]): Promise<number>;
  /** A chat credential for an incoming webhook of Mattermost, served by `outside` as `POST /hooks/<name>`. */
  addChat(name: string): Promise<number>;
  /** A bearer credential with {@link TOKEN} for `outside`, or for the hosts named. */
  addToken(...hosts: readonly string[]): Promise<number>;
  addMail(): Promise<number>;
  /** A customer's database and the credential for it. */
  addDatabase(): Promise<{ readonly id: number; readonly db: Database }>;
  /** Imports an example with its variables set, as `templates import` does, but through the HTTP API. */
  importExample(
    id: string,
    vars: JsonObject,
    more?: { readonly status?: 'draft' | 'active'; readonly is_test_mode?: boolean },
  ): Promise<Imported>;
  /** Starts it through the API. */
  execute(workflowId: number, input: JsonValue): Promise<number>;
  /** Advances the clock to a time at which an active workflow's schedule fires once, and returns the execution's id. */
  fire(workflowId: number, at: string): Promise<number>;
  /** Waits until the execution has ended. */
  finished(executionId: number): Promise<ExecutionBody>;
  /** Waits until the execution has ended or waits for something outside. */
  settled(executionId: number): Promise<ExecutionBody>;
  /** Executions of a workflow, newest first. */
  executionsOf(workflowId: number): Promise<readonly number[]>;
  /** Stops the worker as a restart of the service does, and starts another one on the same database. */
  restartWorker(): Promise<void>;
  close(): Promise<void>;
}

export interface Imported {
  readonly id: number;
  readonly template: Template;
  /** In the order of `template.json`. */
  readonly companionIds: readonly number[];
  /** Calls its webhook as the sender would: with exactly this text and these headers. */
  call(text: string, headers?: { readonly [name: string]: string }): Promise<ApiAnswer>;
  /** The same, for a workflow whose own response isn't in the OpenAPI document. */
  ask(text: string, headers?: { readonly [name: string]: string }): Promise<ApiAnswer>;
  sample(name: string): JsonValue;
}

export async function openWorld(overrides: TestOverrides = {}): Promise<World> {
  const [outside, mail] = await Promise.all([openOutside(), openMailServer()]);
  const secretKeys = { current: randomBytes(32), previous: [] };
  const service = await startTestService({
    ...overrides,
    config: { allowHosts: ['127.0.0.1'], secretKeys, ...overrides.config },
  });
  const key = await service.createKey();
  const { db } = service.database;
  const { api } = service;
  const stops: (() => Promise<void>)[] = [];
  const cleanUps: (() => Promise<void>)[] = [];
  let credentials = 0;

  async function storeCredential(type: CredentialType, fields: JsonObject, hosts: readonly string[] = []) {
    credentials += 1;
    const name = `${type} ${credentials}`;
    const row = await addCredential(
      { db, keys: createSecretKeys(service.deps.config) },
      { organisationId: key.organisationId, name, type, hosts, fields },
      { actor: 'operator' },
    );
    return row.id;
  }

  async function create(workflow: JsonValue, more: object): Promise<number> {
    const created = await api('POST', '/workflows', { key, body: { ...(workflow as JsonObject), ...more } });
    expect(created.status, created.text).toBe(201);
    expect(created.json.problems).toEqual([]);
    return created.json.id;
  }

  async function read(executionId: number, query = ''): Promise<ExecutionBody> {
    const answer = await api('GET', `/executions/${executionId}${query}`, { key });
    expect(answer.status, answer.text).toBe(200);
    return answer.json as unknown as ExecutionBody;
  }

  async function executionsOf(workflowId: number): Promise<readonly number[]> {
    const answer = await api('GET', `/executions?workflow_id=${workflowId}&limit=100`, { key });
    return answer.json.data.map(({ id }) => id);
  }

  return {
    service,
    key,
    outside,
    mail,
    addCredential: storeCredential,
    addChat: (name) =>
      storeCredential('chat', {
        service: 'mattermost',
        base_url: outside.url,
        webhook_url: `${outside.url}/hooks/${name}`,
      }),
    addToken: (...hosts) =>
      storeCredential('bearer', { token: TOKEN }, hosts.length === 0 ? [new URL(outside.url).host] : hosts),
    addMail: () => storeCredential('smtp', { ...mail.credential }),
    async addDatabase() {
      const database = await createTestDatabase();
      // The test server is only reachable by socket; nodes connect by TCP.
      const proxy = await openProxy(database.url);
      cleanUps.push(async () => {
        await proxy.close();
        await database.drop();
      });
      const { port, pathname, username, password } = new URL(proxy.url);
      const id = await storeCredential('sql', {
        dialect: 'postgresql',
        host: '127.0.0.1',
        port: Number(port),
        database: pathname.slice(1),
        username,
        password: decodeURIComponent(password),
        tls: 'off',
      });
      return { id, db: database.db };
    },
    async importExample(id, vars, more = {}) {
      const template = await findTemplate(id);
      if (template === undefined) throw new Error(`there is no example ${id}`);
      for (const [name, value] of Object.entries(vars)) {
        expect(setVariable(template, name, value), `${id} has no variable ${name}`).toBe(true);
      }
      const companionIds: number[] = [];
      for (const companion of template.companions) {
        const companionId = await create(companion.workflow, more);
        joinCompanion(template, companion, companionId);
        companionIds.push(companionId);
      }
      const workflowId = await create(template.workflow, more);
      const hook = await api('GET', `/workflows/${workflowId}/webhook-info`, { key });
      const call: Imported['call'] = (text, headers = {}) =>
        api('POST', `/webhooks/${String(hook.json.hash)}`, {
          raw: text,
          headers: { 'content-type': 'application/json', ...headers },
        });
      const ask: Imported['ask'] = (raw, headers = {}) =>
        send(`${service.url}/api/v1/webhooks/${String(hook.json.hash)}`, 'POST', { raw, headers });
      const sample = (name: string) => {
        const found = template.samples.find((each) => each.name === name);
        if (found === undefined) throw new Error(`${id} has no sample ${name}`);
        return found.data;
      };
      return { id: workflowId, template, companionIds, call, ask, sample };
    },
    async execute(workflowId, input) {
      const answer = await api('POST', `/workflows/${workflowId}/execute`, {
        key,
        body: { input_data: input },
      });
      expect(answer.status, answer.text).toBe(202);
      return answer.json.execution_id;
    },
    async fire(workflowId, at) {
      const before = await executionsOf(workflowId);
      const [row] = await db.query<{ definition: string }>(
        `UPDATE schedules SET next_fire_time = $2, next_fire_at = $2 WHERE workflow_id = $1
         RETURNING definition::text AS definition`,
        [workflowId, new Date(at)],
      );
      const definition = readSchedule(parseJson(row?.definition ?? 'null'));
      if (definition === null) throw new Error('the workflow has no schedule');
      const dueMs = dueTime(definition, workflowId, Date.parse(at));
      await new Scheduler({ ...service.deps, now: async () => dueMs }).runDue();
      const [started, ...others] = (await executionsOf(workflowId)).filter((id) => !before.includes(id));
      expect([started, others]).toEqual([expect.any(Number), []]);
      return started ?? 0;
    },
    async finished(executionId) {
      const execution = await read(executionId, '?wait=50');
      expect(execution.completed_at, `not ended: ${JSON.stringify(execution)}`).not.toBeNull();
      return execution;
    },
    async settled(executionId) {
      // Bounded by the test's own time limit; each request gets its response when the service is ready.
      for (;;) {
        const execution = await read(executionId);
        if (execution.status === 'waiting_async' || execution.completed_at !== null) return execution;
      }
    },
    executionsOf,
    async restartWorker() {
      const client = createGuardedHttpClient({ allowHosts: service.deps.config.allowHosts });
      const http = () => client;
      const { services, slots } = createTestServices(service.deps);
      const worker = new Worker({ ...service.deps, http, services, slots });
      stops.push(async () => {
        await worker.stop();
        await services.close();
        await client.close();
      });
      await service.worker?.stop();
      await worker.start();
    },
    async close() {
      for (const stop of stops) await stop();
      await service.stop();
      await Promise.all([outside.close(), mail.close(), ...cleanUps.map((cleanUp) => cleanUp())]);
    },
  };
}

/** Creates the table that the example `order-paid` writes to, as described in its README. */
export async function createOrders(db: Database): Promise<void> {
  const file = new URL('../../../../examples/order-paid/orders.sql', import.meta.url);
  const statements = (await readFile(file, 'utf8')).split(';').filter((statement) => statement.trim() !== '');
  for (const statement of statements) await db.query(statement);
}

/** The first approval page linked in a message, on the test's own service. */
export function approvalIn({ service }: World, message: string): string {
  const path = /https:\/\/flows\.example(\/api\/v1\/approvals\/[\w-]+)/.exec(message)?.[1];
  if (path === undefined) throw new Error(`no link in ${message}`);
  return service.url + path;
}

/** Presses a button on that page, as a browser does. */
export function decideOn(page: string, form: { readonly [name: string]: string }): Promise<ApiAnswer> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return send(page, 'POST', { raw: new URLSearchParams(form).toString(), headers });
}

/** Statuses of all nodes, by id. */
export function statusesOf(execution: ExecutionBody): { [nodeId: string]: string } {
  return Object.fromEntries(
    Object.entries(execution.node_outputs).map(([id, record]) => [id, record.status]),
  );
}

export function outputOf(execution: ExecutionBody, nodeId: string): { readonly [name: string]: unknown } {
  return execution.node_outputs[nodeId]?.output ?? {};
}
