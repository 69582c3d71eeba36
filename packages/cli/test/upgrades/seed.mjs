// Fills an empty database with what a released version stores, by that version itself. README.md beside it says when and how to run it:
//
//   node packages/cli/test/upgrades/seed.mjs <entry of its millrace command> <DATABASE_URL> [settings it doesn't know, ...]
//
// Plain JavaScript, and nothing but the public contract: it has to work with every version, so it skips what one doesn't have.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** Public, like everything in this folder. */
const SECRET_KEY = 'MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1ub3BxcnN0dXY=';
const PORT = 18_199;
const BASE = `http://127.0.0.1:${PORT}`;
const EMAIL = 'ada@example.com';
const PASSWORD = 'correct horse battery staple';

const [entry, databaseUrl, ...unknown] = process.argv.slice(2);
let key = '';

const node = (id, type, config = {}) => ({ id, type, data: { config } });
const chain = (...nodes) => ({
  nodes,
  edges: nodes.slice(1).map(({ id }, index) => ({ source: nodes[index].id, target: id })),
});

/** What `wait.callback` sends its address to. */
const callbacks = [];
const receiver = createServer((request, response) => {
  request.once('data', (body) => {
    callbacks.push(JSON.parse(body).callback_url);
    response.end('{}');
  });
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');
const receiverUrl = `http://127.0.0.1:${receiver.address().port}/`;

function start(command, settings = {}) {
  const env = {
    PATH: process.env.PATH,
    PORT: String(PORT),
    DATABASE_URL: databaseUrl,
    MILLRACE_SECRET_KEY: SECRET_KEY,
    MILLRACE_LEASE_MS: '4000',
    MILLRACE_HEARTBEAT_MS: '1000',
    MILLRACE_ALLOW_HOSTS: '127.0.0.1',
    ...settings,
  };
  for (const name of unknown) delete env[name];
  const child = spawn(process.execPath, [entry, ...command], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  child.output = '';
  child.stdout.on('data', (chunk) => {
    child.output += chunk;
  });
  child.closed = new Promise((resolve) => child.once('close', resolve));
  return child;
}

async function ready(child) {
  while (!child.output.includes('"address"')) {
    if (child.exitCode !== null) throw new Error('it ended');
    await pause(100);
  }
  return JSON.parse(child.output.trim().split('\n').at(-1));
}

async function call(method, path, body) {
  const response = await fetch(`${BASE}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const result = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(result)}`);
  return result;
}

/** Null if this version doesn't know its nodes. */
async function workflow(name, flow) {
  const created = await call('POST', '/workflows', { name, flow_data: flow, status: 'draft' });
  if (created.problems?.length > 0) {
    console.error(`left out: ${name}: ${JSON.stringify(created.problems)}`);
    await call('DELETE', `/workflows/${created.id}`);
    return null;
  }
  await call('PUT', `/workflows/${created.id}`, { status: 'active' });
  return created.id;
}

async function execute(id, input, wanted) {
  const { execution_id: execution } = await call('POST', `/workflows/${id}/execute`, { input_data: input });
  while (wanted !== undefined) {
    const { status } = await call('GET', `/executions/${execution}?wait=1`);
    if (wanted.includes(status)) break;
    await pause(100);
  }
  return execution;
}

async function signUp(setupUrl) {
  if (setupUrl === undefined) return;
  const token = new URL(setupUrl).hash.replace('#token=', '');
  const response = await fetch(`${BASE}/api/admin/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: BASE, 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ token, email: EMAIL, name: 'Ada', password: PASSWORD }),
  });
  if (!response.ok) throw new Error(`setup: ${response.status} ${await response.text()}`);
}

async function addCredential() {
  const words = ['credentials', 'add', '--name', 'CRM', '--type', 'bearer', '--host', 'crm.example.com'];
  const child = start([...words, '--stdin', 'token', '--json']);
  child.stdin.end('a-token-of-the-crm');
  await child.closed;
}

const ended = ['completed', 'failed'];
// Delays of up to a minute stay in the worker, so that one of them is running when it is killed.
const whole = start(['start', '--json'], { MILLRACE_INLINE_WAIT_MS: '60000' });
const announced = await ready(whole);
key = announced.first_api_key;
await signUp(announced.setup_url);
if (announced.setup_url !== undefined) await addCredential();

const greet = await workflow(
  'greet',
  chain(
    node('start', 'trigger.manual'),
    node('greet', 'core.set', {
      values: { text: 'Hello {{trigger.data.name}}', number: '{{trigger.data.number}}' },
    }),
  ),
);
for (const name of ['Ada', '太郎', 'x'.repeat(2000)]) await execute(greet, { name, number: 12345 }, ended);
const failing = await workflow(
  'fail',
  chain(node('start', 'trigger.manual'), node('stop', 'core.fail', { message: 'No such order' })),
);
await execute(failing, { order: 7 }, ended);
const hook = await workflow(
  'hook',
  chain(
    node('start', 'trigger.webhook'),
    node('keep', 'core.set', { values: { body: '{{trigger.data.body}}' } }),
  ),
);
const { url: hookUrl } = await call('GET', `/workflows/${hook}/webhook-info`);
const delay = await workflow(
  'delay',
  chain(
    node('start', 'trigger.manual'),
    node('delay', 'core.delay', { duration_ms: 90_000 }),
    node('after', 'core.set', { values: { done: true } }),
  ),
);
await execute(delay, { n: 1 }, ['waiting_async']);
const callback = await workflow(
  'callback',
  chain(
    node('start', 'trigger.manual'),
    node('wait', 'wait.callback', {
      request: { url: receiverUrl, body: { callback_url: '{{args.callback_url}}' } },
    }),
    node('after', 'core.set', { values: { got: '{{nodes.wait.output.body}}' } }),
  ),
);
if (callback !== null) await execute(callback, { n: 2 }, ['waiting_async']);
const approval = await workflow(
  'approval',
  chain(node('start', 'trigger.manual'), node('wait', 'wait.approval', { title: 'Ship it?' })),
);
if (approval !== null) await execute(approval, { n: 3 }, ['waiting_async']);
const parent = await workflow(
  'parent',
  chain(node('start', 'trigger.manual'), node('call', 'flow.call', { workflow_id: delay, input: { n: 4 } })),
);
if (parent !== null) await execute(parent, { n: 4 }, ['waiting_async']);
const loop = await workflow('loop', {
  nodes: [
    node('start', 'trigger.manual'),
    node('each', 'core.for_each', { items: '{{trigger.data.items}}' }),
    { ...node('double', 'core.set', { values: { item: '{{item}}' } }), parentId: 'each' },
  ],
  edges: [{ source: 'start', target: 'each' }],
});
if (loop !== null) await execute(loop, { items: [1, 2, 3] }, ended);
await workflow(
  'schedule',
  chain(
    node('tick', 'trigger.schedule', {
      schedule: { type: 'every', every: 1, unit: 'days' },
      timezone: 'UTC',
      missed: 'skip',
    }),
    node('note', 'core.set', { values: { ran: true } }),
  ),
);
const running = await workflow(
  'running',
  chain(
    node('start', 'trigger.manual'),
    node('before', 'core.set', { values: { a: 1 } }),
    node('delay', 'core.delay', { duration_ms: 55_000 }),
    node('after', 'core.set', { values: { done: true } }),
  ),
);
await execute(running, { n: 5 }, ['running']);
await pause(2_000);
whole.kill('SIGKILL');
await whole.closed;

const api = start(['api', '--json']);
await ready(api);
for (let n = 0; n < 5; n += 1) await execute(greet, { name: `queued ${n}`, number: n });
api.kill('SIGTERM');
await api.closed;
console.log(
  JSON.stringify({
    apiKey: key,
    secretKey: SECRET_KEY,
    hookUrl,
    callbacks,
    greet,
    email: EMAIL,
    password: PASSWORD,
  }),
);
receiver.close();
