import {
  compile,
  type Effect,
  type Flow,
  type FlowNode,
  type NodeDefinition,
  type NodeResult,
  resume,
  type StepEvent,
  stepAll,
} from '@millrace/engine';
import { inEnglish } from '@millrace/messages/english';
import { type RunOptions, runNode, TEST_NOW_MS } from '@millrace/node-kit/testing';
import { triggerManual } from '@millrace/triggers';
import { createRegistry } from './catalogue.ts';
import { coreSet } from './nodes/core-set.ts';

/** The default body of a loop: outputs what an iteration sees. */
const STEP: FlowNode = {
  id: 'step',
  type: coreSet.type,
  parentId: 'node',
  data: { config: { values: { item: '{{item}}', index: '{{index}}' } } },
};

/** A flow with the loop as `node`, and its contents. */
export function loopFlow(
  loop: NodeDefinition,
  config: RunOptions['config'] = {},
  body: readonly FlowNode[] = [STEP],
): Flow {
  return {
    nodes: [
      { id: 'start', type: triggerManual.type },
      { id: 'node', type: loop.type, data: { config } },
      ...body.map((node) => ({ parentId: 'node', ...node })),
    ],
    edges: [{ source: 'start', target: 'node' }],
  };
}

/** Runs a loop in the engine, with inner nodes that neither wait nor fail to end; nothing is sent, no time passes. */
export async function runLoop(
  loop: NodeDefinition,
  options: Pick<RunOptions, 'config' | 'trigger'> & {
    readonly body?: readonly FlowNode[];
    /** Types of the nodes in the body besides `core.set`. */
    readonly types?: readonly NodeDefinition[];
  } = {},
): Promise<NodeResult> {
  const registry = createRegistry([triggerManual, coreSet, loop, ...(options.types ?? [])]);
  const flow = loopFlow(loop, options.config, options.body);
  const compiled = compile(flow, registry);
  if (compiled.kind === 'invalid') throw new Error(inEnglish(compiled.problem.message));
  const input = {
    executionId: 1,
    triggerData: options.trigger ?? null,
    deadlineAtMs: null,
    limits: { maxOutputBytes: 16 * 1024 * 1024, maxExecutionBytes: 1_000_000_000, inlineWaitMs: 5_000 },
  };
  let { state, effects } = resume(compiled.plan, input, [], TEST_NOW_MS);
  while (state.phase.kind === 'running') {
    const events = await Promise.all(effects.flatMap((effect) => perform(effect)));
    if (events.length === 0) throw new Error('nothing happens any more');
    ({ state, effects } = stepAll(state, events));
  }
  const record = state.root.slots.find((slot) => slot.node.id === 'node')?.record;
  if (record?.status === 'success') {
    const { output, handles, consumedAiTokens } = record;
    return { kind: 'success', output, handles, consumedAiTokens };
  }
  if (record?.status !== 'failed') throw new Error(`the loop is ${record?.status ?? 'not run'}`);
  const { error, consumedAiTokens } = record;
  return { kind: 'failure', ...error, retryable: false, fatal: false, consumedAiTokens };
}

function perform(effect: Effect): Promise<StepEvent>[] {
  if (effect.kind === 'wait_until') {
    return [Promise.resolve({ kind: 'time', atMs: TEST_NOW_MS, jitter: 0 })];
  }
  if (effect.kind !== 'start_node') return [];
  const { node, iteration, attempt, config, inputs, inputOrder } = effect;
  return [
    runNode(node.definition, { config, inputs, inputOrder, attempt }).then(
      ({ result }): StepEvent => ({
        ...{ kind: 'node_ended', nodeId: node.id, iteration, attempt, result },
        ...{ atMs: TEST_NOW_MS, jitter: 0 },
      }),
    ),
  ];
}
