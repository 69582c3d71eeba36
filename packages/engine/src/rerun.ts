import type { NodeRecord } from './execution.ts';
import type { Plan } from './plan.ts';

/**
 * What a rerun from the failed node takes over: the records of nodes that ended well and do not depend on one that
 * did not. They consumed nothing in the new execution.
 */
export function recordsToKeep(plan: Plan, records: readonly NodeRecord[]): NodeRecord[] {
  const latest = new Map(records.map((record) => [record.nodeId, record]));
  const again = plan.nodes.map(() => false);
  const kept: NodeRecord[] = [];
  for (const node of plan.nodes) {
    const record = latest.get(node.id);
    const isKept = record?.status === 'success' || record?.status === 'skipped';
    if (!isKept || node.incoming.some((edge) => again[edge.source] === true)) {
      again[node.index] = true;
    } else {
      kept.push(record.status === 'skipped' ? record : { ...record, consumedAiTokens: 0 });
    }
  }
  return kept;
}
