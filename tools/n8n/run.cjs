/*
 * Runs a workflow in n8n itself, to compare what it calls with what an imported one calls. n8n is under a licence of its own and no part of this repository:
 * it is read from a folder outside, in which `npm install n8n` was run.
 *
 *   node tools/n8n/run.cjs N8N_FOLDER WORKFLOW.json [SETUP.json]
 *
 * A setup says where all calls go instead of to their hosts, which then are the first part of the path (`calls_to`), what triggers and other nodes give
 * without running (`pinned`, by their names), where to start (`start`), and the fields of credentials (`credentials`, by their types).
 */
const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');

const [folder = '.', file = '', setupFile = ''] = process.argv.slice(2);
const setup = setupFile === '' ? {} : JSON.parse(readFileSync(setupFile, 'utf8'));
process.env.N8N_USER_FOLDER ??= path.resolve(folder, 'home');
process.env.N8N_BLOCK_ENV_ACCESS_IN_NODE = 'false';
if (setup.calls_to !== undefined) sendCallsTo(new URL(setup.calls_to));
const load = createRequire(path.join(path.resolve(folder), 'package.json'));
const { ExecutionLifecycleHooks, WorkflowExecute } = load('n8n-core');
const { NodeHelpers, Workflow } = load('n8n-workflow');
const { Container } = load('@n8n/di');
// Code runs in this process.
Container.get(load('@n8n/config').TaskRunnersConfig).enabled = false;

/** By what the names of their types begin with. */
const PACKAGES = {
  'n8n-nodes-base': 'n8n-nodes-base',
  '@n8n/n8n-nodes-langchain': '@n8n/n8n-nodes-langchain',
};
const loaded = new Map();

/** Also where a package doesn't offer the file itself. */
function inPackage(name, file) {
  return path.join(path.resolve(folder), 'node_modules', name, file);
}

function classOf(type) {
  if (!loaded.has(type)) {
    const at = type.lastIndexOf('.');
    const from = PACKAGES[type.slice(0, at)];
    const known = require(inPackage(from, 'dist/known/nodes.json'))[type.slice(at + 1)];
    loaded.set(type, new (require(inPackage(from, known.sourcePath))[known.className])());
  }
  return loaded.get(type);
}

const nodeTypes = {
  getByName: classOf,
  getByNameAndVersion: (type, version) => NodeHelpers.getVersionedNodeType(classOf(type), version),
  getKnownTypes: () => load('n8n-nodes-base/dist/known/nodes.json'),
};

/** Replaces the host of every request: it becomes the first part of the path. */
function sendCallsTo(target) {
  const http = require('node:http');
  const https = require('node:https');
  const send = http.request;
  const replaced = (usualPort) =>
    function request(...given) {
      const callback = given.findLast((each) => typeof each === 'function');
      const [first, second] = given;
      const isUrl = typeof first === 'string' || first instanceof URL;
      const url = isUrl ? new URL(first) : null;
      const rest = isUrl ? (typeof second === 'object' ? second : {}) : first;
      const from =
        url === null ? {} : { hostname: url.hostname, port: url.port, path: url.pathname + url.search };
      const { hostname, host, port, path: asked = '/', ...options } = { ...from, ...rest };
      const name = hostname ?? host ?? 'localhost';
      const isUsual = port === undefined || port === null || port === '' || Number(port) === usualPort;
      const place = isUsual ? name : `${name}:${port}`;
      const isThere = place === target.host;
      return send.call(
        http,
        {
          ...options,
          ...{ protocol: 'http:', hostname: target.hostname, port: target.port },
          ...{ agent: undefined, agents: undefined, servername: undefined, auth: undefined },
          path: isThere ? asked : `/${place}${asked}`,
        },
        callback,
      );
    };
  http.request = replaced(80);
  https.request = replaced(443);
  const get = (request) =>
    function getAndEnd(...given) {
      const sent = request(...given);
      sent.end();
      return sent;
    };
  http.get = get(http.request);
  https.get = get(https.request);
}

/** As an account that was connected by OAuth has it. */
const CONNECTED = {
  ...{ clientId: 'id', clientSecret: 'secret', accessTokenUrl: 'https://auth.example.com/token', scope: '' },
  oauthTokenData: { access_token: 'token', token_type: 'Bearer', expires_in: 3_600 },
};

/** No secret is compared, so every credential is there, and none is added to a request. */
const credentialsHelper = {
  getParentTypes: () => [],
  getCredentialsProperties: () => [],
  isCredentialTestable: () => false,
  getDecrypted: async (_more, _node, type) => ({ ...CONNECTED, ...setup.credentials?.[type] }),
  authenticate: async (_credentials, _type, request) => request,
  preAuthentication: async () => undefined,
  runPreAuthentication: async () => undefined,
  updateCredentials: async () => undefined,
  updateCredentialsOauthTokenData: async () => undefined,
};

/** Of each node, for whatever it wants; without any, n8n doesn't begin. */
const CREDENTIALS = Object.fromEntries(
  Object.keys(setup.credentials ?? {}).map((type) => [type, { id: '1', name: type }]),
);

/** What was seen in earlier executions: nothing. */
const nothingSeen = {
  checkProcessedAndRecord: async (items) => ({ new: items, processed: [] }),
  removeProcessed: async () => undefined,
  clearAllProcessedItems: async () => undefined,
  getProcessedDataCount: async () => 0,
};

async function run() {
  await load('n8n-core').DataDeduplicationService.init(nothingSeen);
  const flow = JSON.parse(readFileSync(file, 'utf8'));
  const workflow = new Workflow({
    id: 'compared',
    name: flow.name,
    nodes: flow.nodes
      .filter(({ type }) => !type.endsWith('.stickyNote'))
      .map((node, index) => ({
        id: String(index),
        ...node,
        credentials: { ...node.credentials, ...CREDENTIALS },
      })),
    connections: flow.connections,
    active: false,
    nodeTypes,
    staticData: {},
    // As in every workflow that was made since 2023.
    settings: { executionOrder: 'v1', ...flow.settings, timezone: 'UTC' },
  });
  const surroundings = {
    hooks: new ExecutionLifecycleHooks('manual', '1', flow),
    executionId: '1',
    executionTimeoutTimestamp: Date.now() + 60_000,
    credentialsHelper,
    externalSecretsProxy: {},
    variables: {},
    userId: '1',
    setExecutionStatus() {},
    sendDataToUI() {},
    logAiEvent() {},
    getRunnerStatus: () => ({ available: false, reason: 'none' }),
  };
  for (const name of [
    'restApi',
    'instanceBase',
    'webhookBase',
    'webhookWaitingBase',
    'webhookTestBase',
    'formWaitingBase',
  ])
    surroundings[`${name}Url`] = '';
  const start = setup.start === undefined ? workflow.getStartNode() : workflow.getNode(setup.start);
  const { status, data } = await new WorkflowExecute(surroundings, 'manual').run({
    workflow,
    startNode: start,
    pinData: setup.pinned ?? {},
  });
  const { error } = data.resultData;
  const told = error === undefined ? null : [error.node?.name, error.message].filter(Boolean).join(': ');
  process.stdout.write(`${JSON.stringify({ status, error: told })}\n`);
}

run().then(
  () => process.exit(0),
  (error) => {
    process.stderr.write(`${error?.stack ?? error}\n`);
    process.exit(1);
  },
);
