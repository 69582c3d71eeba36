import type { Database } from '@millrace/database/database';
import type { JsonObject } from '@millrace/engine';
import { readRecords } from '@millrace/kafka/records';
import { nodes } from '@millrace/nodes';
import { KafkaTestCluster } from '@millrace/testing/kafka/broker';
import { type ModelServer, startModelServer } from '@millrace/testing/model-server';
import { type FakeMongo, startFakeMongo } from '@millrace/testing/mongodb-server';
import { type FakeRedis, startFakeRedis } from '@millrace/testing/redis-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorld, outputOf, TOKEN, type World } from '../../../cli/test/examples/world.ts';
import { flowOf } from '../../../runtime/test/worker/flows.ts';
import type { ExecutionBody } from '../../../runtime/test/worker/service-with-worker.ts';

/** A node's external effect: shown in test mode, performed otherwise. Functions, because ids and addresses aren't known at first. */
interface Effect {
  readonly config: () => JsonObject;
  /** What `output.request` shows, and what arrives, except for secrets and values derived from the execution's id. */
  readonly request: () => object;
  /** Other members of the output in test mode. */
  readonly more?: object;
  /** The receiver's view of the single request, in the format of `request`. */
  readonly arrived: () => unknown;
}

let world: World;
let model: ModelServer;
let shop: Database;
let redis: FakeRedis;
let kafka: KafkaTestCluster;
let mongo: FakeMongo;
/** Ids of credentials by type. */
const ids: { [type: string]: number } = {};
const SECRET = `whsec_${Buffer.from('a key of twenty-four byte').toString('base64')}`;

beforeAll(async () => {
  model = await startModelServer({
    key: 'sk-canary',
    answer: ({ outputSchema }) => valueFor(outputSchema),
    embed: ({ texts }) => texts.map(() => [1, 2]),
  });
  world = await openWorld();
  for (const line of ['POST /orders', 'POST /partner', 'POST /jobs', 'POST /ask', 'POST /hooks/team'])
    world.outside.on(line, { body: 'ok' });
  const database = await world.addDatabase();
  shop = database.db;
  await shop.query('CREATE TABLE notes (id int PRIMARY KEY, note text)');
  ids.sql = database.id;
  ids.chat = await world.addChat('team');
  ids.smtp = await world.addMail();
  ids.secret = await world.addCredential('secret', { value: SECRET });
  ids.bearer = await world.addToken();
  kafka = await KafkaTestCluster.start();
  kafka.topic('orders');
  ids.kafka = await world.addCredential('kafka', {
    ...{ brokers: kafka.bootstrap, mechanism: 'none', tls: 'off' },
  });
  redis = await startFakeRedis(() => '+OK\r\n');
  ids.redis = await world.addCredential('redis', {
    host: '127.0.0.1',
    port: redis.port,
    password: SECRET,
    tls: 'off',
  });
  mongo = await startFakeMongo({ username: 'app', password: SECRET, says: () => ({ n: 1 }) });
  ids.mongodb = await world.addCredential('sql', {
    dialect: 'mongodb',
    host: '127.0.0.1',
    port: mongo.port,
    database: 'shop',
    username: 'app',
    password: SECRET,
    tls: 'off',
  });
  const base_url = model.baseUrl('openai_compatible');
  ids.ai = await world.addCredential('ai', { base_url, api_key: 'sk-canary' });
});
afterAll(async () => {
  await world.close();
  await model.close();
  await redis.close();
  await kafka.stop();
  await mongo.close();
});

/** The single request of a line, as test mode describes requests. */
function arrivedAt(line: string): JsonObject {
  const [request, ...others] = world.outside.to(line);
  expect(others).toEqual([]);
  const { headers = {}, body = null } = request ?? {};
  const [method = '', path = ''] = line.split(' ');
  return { method, url: world.outside.url + path, headers: { ...headers }, body: body as JsonObject };
}

const body = { order: 17, customer: 'Ada' };
const templates = { order: '{{trigger.data.id}}', customer: '{{trigger.data.name}}' };
const json = 'application/json';
const question = (): JsonObject => ({
  credential_id: ids.ai ?? 0,
  model: 'mill-1',
  prompt: 'How many sacks?',
});

const about = (): JsonObject => {
  const { prompt: text = '', ...model } = question();
  return { ...model, text };
};

/** What the model answers: a text, or a value for the schemas below. */
function valueFor(schema: JsonObject | null): string {
  if (schema === null) return 'Twelve sacks.';
  return JSON.stringify('class' in (schema.properties as object) ? { class: 'order' } : { order: 'Twelve.' });
}

/** The request as parsed by the model server. */
function asked(): unknown {
  const request = model.requests.at(-1);
  const { model: name, messages = [], tools = [] } = request ?? {};
  return {
    model: name,
    messages: messages.map(({ role, text }) => ({ role, text })),
    tools: tools.map((tool) => ({ ...tool })),
  };
}

const storeTool = {
  kind: 'node',
  name: 'remember',
  description: 'Keeps a number.',
  parameters: { type: 'object', properties: {}, additionalProperties: false },
  type: 'data.store',
  config: { operation: 'set', key: 'agent', value: 1 },
};
const { name, description, parameters } = storeTool;

/** Every node with an external effect. A new one without an entry here fails the test below. */
const EFFECTS: { readonly [type: string]: Effect } = {
  'http.request': {
    config: () => ({
      method: 'POST',
      url: `${world.outside.url}/orders`,
      auth: { type: 'credential', credential_id: ids.bearer ?? 0 },
      body: templates,
    }),
    request: () => ({
      method: 'POST',
      url: `${world.outside.url}/orders`,
      headers: { authorization: expect.any(String), 'content-type': json },
      body,
    }),
    arrived: () => arrivedAt('POST /orders'),
  },
  'http.webhook_output': {
    config: () => ({
      url: `${world.outside.url}/partner`,
      credential_id: ids.secret ?? 0,
      payload: templates,
    }),
    request: () => ({
      method: 'POST',
      url: `${world.outside.url}/partner`,
      headers: { 'content-type': json, 'webhook-id': expect.stringMatching(/^msg_/) },
      body,
    }),
    arrived: () => arrivedAt('POST /partner'),
  },
  'chat.notify': {
    config: () => ({ credential_id: ids.chat ?? 0, text: 'Order {{trigger.data.id}}' }),
    request: () => ({
      method: 'POST',
      // The address itself is the secret.
      url: expect.stringContaining('127.0.0.1'),
      headers: { 'content-type': expect.stringContaining(json) },
      body: { text: 'Order 17' },
    }),
    more: { service: 'mattermost' },
    arrived: () => arrivedAt('POST /hooks/team'),
  },
  'email.send': {
    config: () => ({
      credential_id: ids.smtp ?? 0,
      from: 'mill@example.com',
      to: 'ada@example.com',
      bcc: 'books@example.com',
      subject: 'Order {{trigger.data.id}}',
      text: 'Hello {{trigger.data.name}}',
    }),
    request: () => ({
      from: 'mill@example.com',
      to: ['ada@example.com'],
      bcc: ['books@example.com'],
      subject: 'Order 17',
      text: 'Hello Ada',
    }),
    arrived() {
      const [mail, ...others] = world.mail.received;
      expect(others).toEqual([]);
      const [to, bcc] = mail?.to ?? [];
      return {
        from: mail?.from,
        to: [to],
        bcc: [bcc],
        subject: mail?.subject,
        text: mail?.text.trimEnd(),
        headers: mail?.headers,
      };
    },
  },
  'sql.query': {
    config: () => ({
      credential_id: ids.sql ?? 0,
      query: 'INSERT INTO notes VALUES ($1, $2)',
      parameters: ['{{trigger.data.id}}', '{{trigger.data.name}}'],
      read_only: false,
    }),
    request: () => ({ query: 'INSERT INTO notes VALUES ($1, $2)', parameters: [17, 'Ada'] }),
    async arrived() {
      const [note, ...others] = await shop.query<{ id: number; note: string }>('SELECT * FROM notes');
      expect(others).toEqual([]);
      return { query: 'INSERT INTO notes VALUES ($1, $2)', parameters: [note?.id, note?.note] };
    },
  },
  'data.redis': {
    config: () => ({
      credential_id: ids.redis ?? 0,
      operation: 'set',
      key: 'seen/{{trigger.data.id}}',
      value: templates,
    }),
    request: () => ({ commands: [['SET', 'seen/17', JSON.stringify(body)]] }),
    arrived: () => ({ commands: redis.commands.filter(([name]) => name === 'SET') }),
  },
  'data.kafka': {
    config: () => ({
      credential_id: ids.kafka ?? 0,
      topic: 'orders',
      messages: templates,
      key: '{{trigger.data.id}}',
      headers: { kind: 'order' },
    }),
    request: () => ({
      topic: 'orders',
      messages: [{ key: '17', value: JSON.stringify(body), headers: { kind: 'order' }, partition: null }],
    }),
    async arrived() {
      const [batch = Buffer.alloc(0), ...others] = kafka.batches('orders');
      expect(others).toEqual([]);
      const messages = [];
      for await (const step of readRecords(batch, 0, [])) {
        if (!('record' in step)) continue;
        const { key, value, headers } = step.record;
        const named = headers.filter(([name]) => name !== 'idempotency-key');
        messages.push({
          ...{ key: String(key), value: String(value), partition: null },
          headers: Object.fromEntries(named.map(([name, content]) => [name, String(content)])),
        });
      }
      return { topic: 'orders', messages };
    },
  },
  'data.mongodb': {
    config: () => ({
      credential_id: ids.mongodb ?? 0,
      operation: 'insert',
      collection: 'orders',
      documents: [{ _id: '{{trigger.data.id}}', ...templates }],
    }),
    request: () => ({ collection: 'orders', kind: 'insert', documents: [{ _id: 17, ...body }] }),
    arrived: () => {
      const [{ insert, documents } = {}, ...others] = mongo.commands;
      expect(others).toEqual([]);
      return { collection: insert, kind: 'insert', documents };
    },
  },
  'data.store': {
    config: () => ({ operation: 'set', key: 'seen/{{trigger.data.id}}', value: templates }),
    request: () => ({ operation: 'set', key: 'seen/17', value: body }),
    async arrived() {
      const [entry, ...others] = await world.service.database.db.query<{ key: string; value: string }>(
        'SELECT key, value::text AS value FROM data_entries',
      );
      expect(others).toEqual([]);
      return { operation: 'set', key: entry?.key, value: JSON.parse(entry?.value ?? 'null') };
    },
  },
  'ai.generate': {
    config: question,
    request: () => ({ model: 'mill-1', messages: [{ role: 'user', text: 'How many sacks?' }], tools: [] }),
    arrived: asked,
  },
  'ai.classify': {
    config: () => ({ ...about(), classes: [{ name: 'order', description: 'About an order.' }] }),
    request: () => ({ model: 'mill-1', messages: [{ role: 'user', text: 'How many sacks?' }], tools: [] }),
    arrived: asked,
  },
  'ai.extract': {
    config: () => ({ ...about(), fields: [{ name: 'order', type: 'string', description: '' }] }),
    request: () => ({ model: 'mill-1', messages: [{ role: 'user', text: 'How many sacks?' }], tools: [] }),
    arrived: asked,
  },
  'ai.embed': {
    config: () => ({ credential_id: ids.ai ?? 0, model: 'embed-1', texts: ['Order {{trigger.data.id}}'] }),
    request: () => ({ model: 'embed-1', texts: ['Order 17'] }),
    arrived() {
      const { model: name, texts } = model.embeddings.at(-1) ?? {};
      return { model: name, texts };
    },
  },
  'ai.vectors': {
    config: () => ({
      operation: 'put',
      collection: 'orders',
      credential_id: ids.ai ?? 0,
      model: 'embed-1',
      items: [{ key: '{{trigger.data.id}}', text: 'Order {{trigger.data.id}}' }],
    }),
    request: () => ({ collection: 'orders', items: [{ key: '17', text: 'Order 17' }] }),
    async arrived() {
      const items = await world.service.database.db.query<{ key: string; text: string }>(
        "SELECT key, text FROM vector_items WHERE collection = 'orders'",
      );
      return { collection: 'orders', items };
    },
  },
  'ai.agent': {
    config: () => ({ ...question(), tools: [storeTool] }),
    request: () => ({
      model: 'mill-1',
      messages: [{ role: 'user', text: 'How many sacks?' }],
      tools: [{ name, description, parameters }],
    }),
    arrived: asked,
  },
  'wait.callback': {
    config: () => ({
      request: { url: `${world.outside.url}/jobs`, body: { ...templates, answer: '{{args.callback_url}}' } },
    }),
    request: () => ({
      method: 'POST',
      url: `${world.outside.url}/jobs`,
      body: { ...body, answer: expect.stringContaining('/api/v1/callbacks/') },
    }),
    arrived: () => arrivedAt('POST /jobs'),
  },
  'wait.approval': {
    config: () => ({
      title: 'Order {{trigger.data.id}}?',
      request: { url: `${world.outside.url}/ask`, body: { ...templates, open: '{{args.approval_url}}' } },
    }),
    request: () => ({
      dry_run: true,
      request: {
        method: 'POST',
        url: `${world.outside.url}/ask`,
        body: { ...body, open: expect.stringContaining('/api/v1/approvals/') },
      },
    }),
    more: { decision: 'approve', comment: '', decided_by: null, decided_at: null },
    arrived: () => ({ dry_run: true, request: arrivedAt('POST /ask') }),
  },
};

/**
 * Effects that change nothing outside, so that test mode runs them: they wait, read, make random values or files of the execution, or
 * answer whoever has called.
 */
const CHANGE_NOTHING = [
  'core.crypto',
  'core.delay',
  'data.feed',
  'file.image',
  'file.pdf_text',
  'file.read',
  'file.write',
  'file.zip',
  'flow.call',
  'webhook.respond',
];

/** Everything visible outside, and what the service stores besides the execution itself. */
async function seen(): Promise<unknown> {
  const kept = await world.service.database.db.query(
    `SELECT (SELECT json_agg(entry ORDER BY key) FROM data_entries AS entry) AS entries,
       (SELECT count(*) FROM data_writes) AS writes, (SELECT count(*) FROM vector_items) AS vectors, (SELECT count(*) FROM callbacks) AS callbacks`,
  );
  const notes = await shop.query('SELECT * FROM notes');
  const { outside, mail } = world;
  return structuredClone({
    http: outside.received,
    mail: mail.received,
    asked: model.requests.length + model.embeddings.length,
    notes,
    kept,
  });
}

async function create(flow: object, isTestMode: boolean): Promise<number> {
  const workflow = { name: 'Effects', flow_data: flow, is_test_mode: isTestMode };
  const created = await world.service.api('POST', '/workflows', { key: world.key, body: workflow });
  expect(created.json.problems).toEqual([]);
  return created.json.id;
}

async function run(type: string, config: JsonObject, isTestMode: boolean): Promise<ExecutionBody> {
  const workflow = await create(flowOf([['node', type, { config }]], ['start>node']), isTestMode);
  const execution = await world.settled(await world.execute(workflow, { id: 17, name: 'Ada' }));
  expect(execution.error).toBeUndefined();
  expect(execution.is_test_mode).toBe(isTestMode);
  return execution;
}

describe('in test mode', () => {
  it('every node with an outside effect has a test', () => {
    const effects = nodes.filter(({ kind }) => kind === 'effect').map(({ type }) => type);
    expect([...Object.keys(EFFECTS), ...CHANGE_NOTHING].sort()).toEqual(effects.sort());
  });

  describe.each(Object.entries(EFFECTS))('%s', (type, effect) => {
    let shown: unknown;

    it('shows its request and sends nothing', async () => {
      world.outside.forget();
      world.mail.forget();
      const before = await seen();
      const execution = await run(type, effect.config(), true);
      expect(await seen()).toEqual(before);
      expect(execution).toMatchObject({ status: 'completed', consumed_ai_tokens: 0 });
      const { dry_run, request, ...more } = outputOf(execution, 'node');
      expect({ dry_run, request }).toMatchObject({ dry_run: true, request: effect.request() });
      expect(more).toEqual(effect.more ?? {});
      const text = JSON.stringify(execution);
      for (const secret of [SECRET, TOKEN, 'sk-canary', world.mail.credential.password])
        expect(text).not.toContain(secret);
      shown = request;
    });

    // Without this the receivers above might not be listening at all.
    it('sends exactly that when test mode is off', async () => {
      await run(type, effect.config(), false);
      const arrived = await effect.arrived();
      expect(arrived).toMatchObject(effect.request());
      expect(headersOf(arrived)).toEqual(expect.arrayContaining(headersOf(shown)));
    });
  });

  it('a called workflow is in test mode, too', async () => {
    world.outside.forget();
    const { 'http.request': post } = EFFECTS;
    const config = { ...post?.config(), body: { order: 17 } };
    const child = await create(flowOf([['post', 'http.request', { config }]], ['start>post']), false);
    const execution = await world.finished((await run('flow.call', { workflow_id: child }, true)).id);
    const [childId = 0] = await world.executionsOf(child);
    const called = await world.finished(childId);
    expect([execution.status, called.status, called.is_test_mode]).toEqual(['completed', 'completed', true]);
    expect(outputOf(called, 'post')).toMatchObject({ dry_run: true, request: { body: { order: 17 } } });
    expect(world.outside.received).toEqual([]);
  });

  it('reads are performed all the same', async () => {
    world.outside.on('GET /orders', { body: { order: 17 } });
    const read = await run('http.request', { url: `${world.outside.url}/orders` }, true);
    expect(outputOf(read, 'node')).toMatchObject({ status: 200, body: { order: 17 } });
    world.outside.on('GET /feed', {
      body: { version: 'https://jsonfeed.org/version/1.1', title: 'News', items: [] },
    });
    const feed = await run('data.feed', { source: 'url', url: `${world.outside.url}/feed` }, true);
    expect(outputOf(feed, 'node')).toMatchObject({ feed: { title: 'News' }, count: 0 });
    const query = { credential_id: ids.sql ?? 0, query: 'SELECT 1 AS one' };
    expect(outputOf(await run('sql.query', query, true), 'node')).toMatchObject({ rows: [{ one: 1 }] });
    const entry = await run('data.store', { operation: 'get', key: 'nothing' }, true);
    expect(outputOf(entry, 'node')).toMatchObject({ found: false });
  });
});

/** Names of the headers of a request that has some. */
function headersOf(request: unknown): string[] {
  const { headers = {}, request: inner } = request as {
    readonly headers?: object;
    readonly request?: unknown;
  };
  if (inner !== undefined) return headersOf(inner);
  return Object.keys(headers).map((header) => header.toLowerCase());
}
