import type { JsonObject, JsonValue } from '@millrace/engine';
import { type ImportResult, importWorkflow } from '@millrace/importer';
import { expect } from 'vitest';
import type { ExecutionBody } from '../../../runtime/test/worker/service-with-worker.ts';
import type { World } from './world.ts';

/** Imports a workflow of another product without anything dropped. */
function importWhole(original: JsonValue): ImportResult['workflow'] {
  const read = importWorkflow(original, { limits: { nodes: 200, depth: 100 }, name: 'x' });
  if ('fault' in read) throw new Error(read.fault.code);
  expect(read.result.outcomes.filter(({ kind }) => kind === 'dropped')).toEqual([]);
  return read.result.workflow;
}

/** Stores a workflow in which nothing has to be mended. @returns its id */
async function store({ key, service }: World, workflow: JsonObject): Promise<number> {
  const created = await service.api('POST', '/workflows', { key, body: workflow });
  expect(created.status, created.text).toBe(201);
  expect(created.json.problems).toEqual([]);
  return created.json.id;
}

/** The same for one that calls another workflow, wherever it does. @returns its id */
export function storeCaller(world: World, original: JsonValue, called: number): Promise<number> {
  const text = JSON.stringify(importWhole(original)).replaceAll('"workflow_id":0', `"workflow_id":${called}`);
  return store(world, JSON.parse(text) as JsonObject);
}

/** Runs a workflow to its end without a failure. */
async function run(world: World, id: number, input: JsonValue): Promise<ExecutionBody> {
  const execution = await world.finished(await world.execute(id, input));
  expect(execution.error, JSON.stringify(execution.error)).toBeUndefined();
  return execution;
}

/** Imports a workflow of another product without anything dropped, and stores it. @returns its id */
export function storeImported(world: World, original: JsonValue): Promise<number> {
  return store(world, { ...importWhole(original) });
}

/**
 * Imports a workflow whose calls go to services on the Internet, and runs it against the world outside of the tests instead: there, a host
 * is the first part of a path, and so is a constant for the address of an own server. Calls have no credentials; operations have this one.
 */
export async function runElsewhere(
  world: World,
  original: JsonValue,
  input: JsonValue = {},
  credentialId = 0,
): Promise<ExecutionBody> {
  const text = JSON.stringify(importWhole(original))
    .replaceAll(/"auth":\{"type":"credential","credential_id":0\},?/g, '')
    .replaceAll(/"url":"https:\/\/([^/"]+)\//g, (_found, host: string) => {
      const name = host.replaceAll(/\{\{.*?\}\}\.?/g, '');
      return `"url":"${world.outside.url}/${name}/`;
    })
    .replaceAll(/"(\w+_url)":""/g, (_found, name: string) => `"${name}":"${world.outside.url}/${name}"`)
    .replaceAll('"credential_id":0', `"credential_id":${credentialId}`)
    .replaceAll(/,\}/g, '}');
  return run(world, await store(world, JSON.parse(text) as JsonObject), input);
}

/** Credentials of an imported workflow: of services that are called, and of models. */
export interface Connections {
  readonly service: number;
  readonly model?: number;
  readonly vars?: JsonObject;
}

/** Imports and stores a workflow, with credentials for all of its calls. @returns its id */
export async function storeConnected(
  world: World,
  original: JsonValue,
  { service, model = 0, vars = {} }: Connections,
  more: JsonObject = {},
): Promise<number> {
  const workflow = JSON.parse(
    JSON.stringify({ ...importWhole(original), ...more }),
    function connect(this: object, name: string, value: unknown) {
      if (name === 'vars' && typeof value === 'object') return { ...value, ...vars };
      if (name !== 'credential_id' || value !== 0) return value;
      return 'model' in this ? model : service;
    },
  ) as JsonObject;
  return store(world, workflow);
}

/** The same, and runs it by a worker that reaches services. */
export async function runConnected(
  world: World,
  original: JsonValue,
  connections: Connections,
  input: JsonValue = {},
): Promise<ExecutionBody> {
  return run(world, await storeConnected(world, original, connections), input);
}

/** The same, with a credential for each node by its type. */
export async function runWith(
  world: World,
  original: JsonValue,
  {
    vars = {},
    credentialFor,
  }: { readonly vars?: JsonObject; readonly credentialFor: (type: string) => number },
  input: JsonValue = {},
): Promise<ExecutionBody> {
  const workflow = importWhole(original);
  if (workflow === null) throw new Error('nothing was imported');
  const { nodes, settings, ...flow } = workflow.flow_data;
  const connected = nodes.map((node) => {
    const id = credentialFor(node.type);
    const text = JSON.stringify(node).replaceAll('"credential_id":0', `"credential_id":${id}`);
    return JSON.parse(text) as JsonObject;
  });
  const flowData = {
    ...flow,
    nodes: connected,
    settings: { ...settings, vars: { ...settings?.vars, ...vars } },
  };
  return run(world, await store(world, { ...workflow, flow_data: flowData } as unknown as JsonObject), input);
}

/** Imports it, and runs it to its end without a failure. */
export async function runImported(
  world: World,
  original: JsonValue,
  input: JsonValue = {},
): Promise<ExecutionBody> {
  return run(world, await storeImported(world, original), input);
}
