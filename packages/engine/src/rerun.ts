import type { NodeRecord, ShownRecord } from './execution.ts';
import type { Plan, PlanNode } from './plan.ts';
import type { Tokens } from './tokens.ts';

/**
 * The records that a rerun from the failed node reuses: those of top-level nodes that succeeded and don't depend on one that didn't. For a
 * loop that succeeded, the summaries of its contents are kept too; any other loop is rerun as a whole. Reused records count as having
 * consumed nothing in the new execution.
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

/** The top-level loop that contains a node, or the node itself. */
function topLoopOf(node: PlanNode): PlanNode {
  return node.scope.loop === null ? node : topLoopOf(node.scope.loop);
}
