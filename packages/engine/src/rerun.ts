import type { NodeRecord, ShownRecord } from './execution.ts';
import type { Plan, PlanNode } from './plan.ts';
import type { Tokens } from './tokens.ts';

/**
 * What a rerun from the failed node takes over: the records of top-level nodes that ended well and do not depend on one
 * that did not. Of a loop that ended well the summaries of what is inside it are kept, too; another loop is run again as a
 * whole. What is kept consumed nothing in the new execution.
 */
export function recordsToKeep(plan: Plan, records: readonly NodeRecord[]): NodeRecord[] {
  const latest = new Map<string, ShownRecord>();
  for (const record of records) {
    if (record.status !== 'iteration_ended' && record.iteration === undefined)
      latest.set(record.nodeId, record);
  }
  const again = plan.root.nodes.map(() => false);
  const kept: NodeRecord[] = [];
  for (const node of plan.nodes) {
    const { incoming, place, scope } = node;
    const record = latest.get(node.id);
    const isKept = record?.status === 'success' || record?.status === 'skipped';
    if (scope === plan.root && (!isKept || incoming.some((edge) => again[edge.source] === true))) {
      again[place] = true;
    } else if (record !== undefined && again[topLoopOf(node).place] !== true) {
      kept.push(record.status === 'skipped' ? record : withoutTokens(record));
    }
  }
  return kept;
}

function withoutTokens<Kept extends Tokens>(record: Kept): Kept {
  const { childAiTokens: _, ...rest } = record;
  return { ...rest, consumedAiTokens: 0 } as Kept;
}

/** The loop at top level that a node is inside of, or the node itself. */
function topLoopOf(node: PlanNode): PlanNode {
  return node.scope.loop === null ? node : topLoopOf(node.scope.loop);
}
