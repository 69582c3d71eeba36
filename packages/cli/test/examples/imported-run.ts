import type { JsonValue } from '@millrace/engine';
import { importWorkflow } from '@millrace/importer';
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
