import {
  type ClaimedExecution,
  type Effect,
  type NodeContext,
  type NodeDefinition,
  type OpenFile,
  type PlanNode,
  success,
} from '@millrace/engine';
import { expect, test } from 'vitest';
import { DataBudget } from './data-budget.ts';
import { NodeRun } from './node-run.ts';
import type { Services } from './node-services.ts';

const ORGANISATION = 1;

/** A file of so many bytes that counts how often it is read. */
function fileOf(size: number) {
  const counter = { reads: 0 };
  const file: OpenFile = {
    ...{ name: 'a.bin', type: 'application/octet-stream', size, sha256: '' },
    async *read() {
      counter.reads += 1;
      yield Buffer.alloc(size, 7);
    },
  };
  return { file, counter };
}

/** A node that reads the file and then goes on when it is told to. */
function reading(budget: DataBudget, file: OpenFile, goOn: Promise<void>) {
  const definition = {
    type: 'test.read',
    async run(context: NodeContext) {
      const content = await context.readWhole(file);
      await goOn;
      return success({ size: content.byteLength });
    },
  } as NodeDefinition;
  const claimed = {
    ...{ lease: { executionId: 1 }, organisationId: ORGANISATION, workflowId: 1, isTestMode: false },
    ...{ input: null, startedAtMs: 0 },
  } as ClaimedExecution;
  const effect = {
    kind: 'start_node',
    node: { id: 'read', label: 'Read', type: definition.type, definition } as PlanNode,
    ...{ config: {}, inputs: {}, inputOrder: [], attempt: 1, previousOutput: null, iteration: [] },
    ...{ aiTokensLeft: null, timezone: null, render: (template) => template },
  } as Extract<Effect, { kind: 'start_node' }>;
  const data = budget.begin(ORGANISATION);
  const control = { data, waitForHost: () => () => {}, mayStillCall: () => true };
  const deps = {
    http: () => ({ send: () => Promise.reject(new Error('nothing is sent')) }),
    clock: { now: () => 0 },
    services: {} as Services,
    maxSteps: 1_000,
    limits: { inlineWaitMs: 0, maxOutputBytes: 1_000_000 },
  };
  return new NodeRun(claimed, effect, deps, control);
}

test('files that are read whole take room, and wait for it', async () => {
  const budget = new DataBudget({ totalBytes: 10_000, slots: 10, organisationPercent: 100 });
  const { promise: goOn, resolve } = Promise.withResolvers<void>();
  const [first, second] = [fileOf(6_000), fileOf(6_000)];
  const running = reading(budget, first.file, goOn);
  const firstResult = running.begin();
  const waiting = reading(budget, second.file, goOn);
  const secondResult = waiting.begin();
  await expect.poll(() => first.counter.reads).toBe(1);
  // There is no room for as much again.
  expect(budget.state).toMatchObject({ heldBytes: 6_000, waiting: 1 });
  expect(second.counter.reads).toBe(0);
  resolve();
  expect(await firstResult).toMatchObject({ output: { size: 6_000 } });
  running.releaseResponses();
  expect(await secondResult).toMatchObject({ output: { size: 6_000 } });
  waiting.releaseResponses();
  expect(budget.state).toMatchObject({ heldBytes: 0, waiting: 0 });
});

test('a node that is aborted while its file waits reads nothing', async () => {
  const budget = new DataBudget({ totalBytes: 10_000, slots: 10, organisationPercent: 100 });
  budget.begin(ORGANISATION).set(9_000);
  const { file, counter } = fileOf(2_000);
  const run = reading(budget, file, Promise.resolve());
  const result = run.begin();
  await expect.poll(() => budget.state.waiting).toBe(1);
  run.abort('cancelled');
  expect(await result).toMatchObject({ kind: 'failure' });
  expect([counter.reads, budget.state.waiting]).toEqual([0, 0]);
});
