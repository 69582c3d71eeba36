import { verbatim } from '@millrace/messages';
import { failure, type JsonObject, type JsonValue, type NodeResult, success } from '../../src/index.ts';
import { Drive } from './drive.ts';
import { flowOf, type NodeSketch, planOf } from './flows.ts';

/** Data of a node with an external effect. */
export const effect = { type: 'test.effect', timeout_ms: 60_000 };
export const ok = success({ text: 'ok' });
export const broken = failure('broken', verbatim('it broke'));

/** A `core.for_each` for a compact flow. */
export function forEach(items: JsonValue, config: JsonObject = {}, data: NodeSketch = {}): NodeSketch {
  return { type: 'core.for_each', ...data, config: { items, ...config } };
}

/** A `core.repeat` for a compact flow. */
export function repeat(config: JsonObject, data: NodeSketch = {}): NodeSketch {
  return { type: 'core.repeat', ...data, config };
}

/** A loop `l` with the body `a -> b`, then `z`. */
export function looped(loop: NodeSketch, body: NodeSketch = {}): Drive {
  const nodes = { l: loop, a: { ...body, in: 'l' }, b: { ...body, in: 'l' }, z: {} };
  return new Drive(planOf(flowOf(nodes, ['t -> l', 'a -> b', 'l -> z'])));
}

/** Output of a top-level node, if any. */
export function outputOf(drive: Drive, node: string): JsonObject | undefined {
  const record = drive.state.root.slots.find((slot) => slot.node.id === node)?.record;
  return record !== undefined && 'output' in record ? record.output : undefined;
}

/** Ends every started node, in order, until the execution has ended. */
export function playOn(
  drive: Drive,
  play: (nodeId: string, iteration: readonly number[], config: JsonObject) => NodeResult = () => ok,
): void {
  let at = 0;
  while (drive.state.phase.kind === 'running') {
    const next = drive.effects[at];
    at += 1;
    if (next?.kind === 'start_node') {
      const { node, iteration, config, attempt } = next;
      drive.end([node.id, ...iteration].join(' '), play(node.id, iteration, config), { attempt });
    } else if (next?.kind === 'wait_until') {
      if (next.atMs <= drive.nowMs) drive.time(drive.nowMs);
    } else if (next === undefined) {
      throw new Error('nothing happens any more');
    }
  }
}
