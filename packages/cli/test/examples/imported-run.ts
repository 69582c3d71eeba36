import type { HttpClient, JsonObject, JsonValue } from '@millrace/engine';
import { importWorkflow } from '@millrace/importer';
import { createWorker } from '@millrace/runtime/worker';
import { createTestServices } from '@millrace/testing/service';
import { expect } from 'vitest';
import type { ExecutionBody } from '../../../runtime/test/worker/service-with-worker.ts';
import type { World } from './world.ts';

/** Imports a workflow of another product without anything dropped, and stores it. @returns its id */
export async function storeImported({ key, service }: World, original: JsonValue): Promise<number> {
  const read = importWorkflow(original, { limits: { nodes: 200, depth: 100 }, name: 'x' });
  if ('fault' in read) throw new Error(read.fault.code);
  expect(read.result.outcomes.filter(({ kind }) => kind === 'dropped')).toEqual([]);
  const created = await service.api('POST', '/workflows', { key, body: { ...read.result.workflow } });
  expect(created.status, created.text).toBe(201);
  expect(created.json.problems).toEqual([]);
  return created.json.id;
}

/**
 * Imports a workflow whose calls go to services on the Internet, and runs it against the world outside of the tests instead: there, a host
 * is the first part of a path, and so is a constant for the address of an own server. Calls have no credentials.
 */
export async function runElsewhere(
  world: World,
  original: JsonValue,
  input: JsonValue = {},
): Promise<ExecutionBody> {
  const read = importWorkflow(original, { limits: { nodes: 200, depth: 100 }, name: 'x' });
  if ('fault' in read) throw new Error(read.fault.code);
  expect(read.result.outcomes.filter(({ kind }) => kind === 'dropped')).toEqual([]);
  const text = JSON.stringify(read.result.workflow)
    .replaceAll(/"auth":\{"type":"credential","credential_id":0\},?/g, '')
    .replaceAll(/"url":"https:\/\/([^/"]+)\//g, (_found, host: string) => {
      const name = host.replaceAll(/\{\{.*?\}\}\.?/g, '');
      return `"url":"${world.outside.url}/${name}/`;
    })
    .replaceAll(/"(\w+_url)":""/g, (_found, name: string) => `"${name}":"${world.outside.url}/${name}"`)
    .replaceAll(/,\}/g, '}');
  const created = await world.service.api('POST', '/workflows', {
    key: world.key,
    body: JSON.parse(text) as JsonObject,
  });
  expect(created.status, created.text).toBe(201);
  expect(created.json.problems).toEqual([]);
  const execution = await world.finished(await world.execute(created.json.id, input));
  expect(execution.error, JSON.stringify(execution.error)).toBeUndefined();
  return execution;
}

/**
 * Puts a worker in place of the world's that reaches services on the Internet in the world outside of the tests, at a path that begins
 * with their host: operations of connectors know no other address.
 * @returns stops it
 */
export async function reachServices(world: World): Promise<() => Promise<void>> {
  const { deps, worker: first } = world.service;
  const http = (organisationId: number): HttpClient => {
    const client = deps.egress.http(organisationId);
    return {
      send: (request, ...rest) =>
        client.send({ ...request, url: request.url.replace(/^https:\//, world.outside.url) }, ...rest),
    };
  };
  const egress = Object.create(deps.egress, { http: { value: http } }) as typeof deps.egress;
  const { services, slots } = createTestServices({ ...deps, egress });
  const worker = createWorker({ ...deps, http, services, slots });
  await first?.stop();
  await worker.start();
  return async () => {
    await worker.stop();
    await services.close();
  };
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
  const read = importWorkflow(original, { limits: { nodes: 200, depth: 100 }, name: 'x' });
  if ('fault' in read) throw new Error(read.fault.code);
  expect(read.result.outcomes.filter(({ kind }) => kind === 'dropped')).toEqual([]);
  const body = JSON.parse(
    JSON.stringify({ ...read.result.workflow, ...more }),
    function connect(this: object, name: string, value: unknown) {
      if (name === 'vars' && typeof value === 'object') return { ...value, ...vars };
      if (name !== 'credential_id' || value !== 0) return value;
      return 'model' in this ? model : service;
    },
  ) as JsonObject;
  const created = await world.service.api('POST', '/workflows', { key: world.key, body });
  expect(created.status, created.text).toBe(201);
  expect(created.json.problems).toEqual([]);
  return created.json.id;
}

/** The same, and runs it by a worker that reaches services. */
export async function runConnected(
  world: World,
  original: JsonValue,
  connections: Connections,
  input: JsonValue = {},
): Promise<ExecutionBody> {
  const id = await storeConnected(world, original, connections);
  const execution = await world.finished(await world.execute(id, input));
  expect(execution.error, JSON.stringify(execution.error)).toBeUndefined();
  return execution;
}

/** Imports it, and runs it to its end without a failure. */
export async function runImported(
  world: World,
  original: JsonValue,
  input: JsonValue = {},
): Promise<ExecutionBody> {
  const execution = await world.finished(await world.execute(await storeImported(world, original), input));
  expect(execution.error, JSON.stringify(execution.error)).toBeUndefined();
  return execution;
}
