/*
 * Runs a workflow in n8n itself, to compare what it calls with what an imported one calls. n8n is under a licence of its own and no part of this repository:
 * it is read from a folder outside, in which `npm install n8n` was run.
 *
 *   node tools/n8n/run.cjs N8N_FOLDER WORKFLOW.json
 */
const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');

const [folder = '.', file = ''] = process.argv.slice(2);
process.env.N8N_USER_FOLDER ??= path.resolve(folder, 'home');
const load = createRequire(path.join(path.resolve(folder), 'package.json'));
const { ExecutionLifecycleHooks, WorkflowExecute } = load('n8n-core');
const { NodeHelpers, Workflow } = load('n8n-workflow');
const nodes = load('n8n-nodes-base/dist/known/nodes.json');

const loaded = new Map();

function classOf(type) {
  const known = nodes[type.slice(type.lastIndexOf('.') + 1)];
  if (!loaded.has(type))
    loaded.set(type, new (load(`n8n-nodes-base/${known.sourcePath}`)[known.className])());
  return loaded.get(type);
}

const nodeTypes = {
  getByName: classOf,
  getByNameAndVersion: (type, version) => NodeHelpers.getVersionedNodeType(classOf(type), version),
  getKnownTypes: () => nodes,
};

async function run() {
  const flow = JSON.parse(readFileSync(file, 'utf8'));
  const workflow = new Workflow({
    id: 'compared',
    name: flow.name,
    nodes: flow.nodes.map((node, index) => ({ id: String(index), ...node })),
    connections: flow.connections,
    active: false,
    nodeTypes,
    settings: { timezone: 'UTC' },
  });
  const surroundings = {
    hooks: new ExecutionLifecycleHooks('manual', '1', flow),
    executionId: '1',
    executionTimeoutTimestamp: Date.now() + 60_000,
    credentialsHelper: { getParentTypes: () => [] },
    externalSecretsProxy: {},
    variables: {},
    userId: '1',
    setExecutionStatus() {},
    sendDataToUI() {},
    logAiEvent() {},
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
  const { status, data } = await new WorkflowExecute(surroundings, 'manual').run({
    workflow,
    startNode: workflow.getStartNode(),
  });
  const { error } = data.resultData;
  process.stdout.write(`${JSON.stringify({ status, error: error?.message ?? null })}\n`);
}

run().then(
  () => process.exit(0),
  (error) => {
    process.stderr.write(`${error?.stack ?? error}\n`);
    process.exit(1);
  },
);
