import { render } from '@millrace/templates/template-render';
import type { JsonObject, JsonValue } from '@millrace/values/json';
import { setOwn } from '@millrace/values/json';
import type { NodeRecord } from './execution.ts';
import type { Plan, PlanNode } from './plan.ts';
import { startedBy } from './trigger-request.ts';

/**
 * A node's config when the execution has ended: members deferred to `end` are rendered with the outputs of all top-level nodes, everything
 * else stays unrendered. `now` is when the last node ended.
 * @param of.records of the execution in storage order, folded or not
 * @throws RenderLimitError when the result is larger than `maxBytes`
 */
export function renderAtEnd(
  plan: Plan,
  node: PlanNode,
  of: {
    readonly executionId: number;
    readonly triggerData: JsonValue;
    readonly records: readonly NodeRecord[];
    readonly maxBytes: number;
  },
): JsonObject {
  const outputs = new Map<string, JsonObject>();
  let nowMs = 0;
  for (const record of of.records) {
    nowMs = Math.max(nowMs, 'completedAtMs' in record ? record.completedAtMs : 0);
    if (record.status === 'iteration_ended' || record.iteration !== undefined) continue;
    if (record.iterations !== undefined) continue;
    if (record.status === 'success' || record.status === 'failed') outputs.set(record.nodeId, record.output);
  }
  const scope = {
    triggerData: of.triggerData,
    request: outputs.get(startedBy(plan, of.records).id)?.request,
    executionId: of.executionId,
    vars: plan.vars,
    timezone: plan.timezone,
    nowMs,
    nodeOutput: (nodeId: string) => outputs.get(nodeId) ?? null,
  };
  const config: { [name: string]: JsonValue } = { ...node.writtenConfig };
  for (const { name, until, template } of node.deferred) {
    if (until === 'end') setOwn(config, name, render(template, scope, of.maxBytes));
  }
  return config;
}
