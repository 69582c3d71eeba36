import { listPaths } from '@millrace/templates/template';
import { canonicalJson, type JsonValue } from '@millrace/values/json';
import type { NodeRecord, ShownRecord } from './execution.ts';
import type { Plan, PlanEdge, PlanNode } from './plan.ts';
import type { Tokens } from './tokens.ts';

/** What a rerun runs again although it succeeded. */
export interface RerunScope {
  /** The plan that the records come from, if it is another one: nodes that have changed since run again. */
  readonly former?: Plan;
  /** A top-level node that runs again. */
  readonly from?: string;
}

/**
 * The records that a rerun reuses: those of top-level nodes that succeeded or were skipped, aren't to run again, and don't depend on one that
 * runs again. For a loop that succeeded, the summaries of its contents are kept too; any other loop is rerun as a whole. Reused records count
 * as having consumed nothing in the new execution.
 */
export function recordsToKeep(
  plan: Plan,
  records: readonly NodeRecord[],
  { former = plan, from }: RerunScope = {},
): NodeRecord[] {
  const latest = new Map<string, ShownRecord>();
  for (const record of records) {
    if (record.status !== 'iteration_ended' && record.iteration === undefined)
      latest.set(record.nodeId, record);
  }
  // Its trigger must have a record: if that trigger is gone, the rerun starts at the plan's own.
  const hasStart = plan.triggers.some(
    (trigger) => latest.get(trigger.id)?.status === 'success' && !hasChanged(trigger, plan, former),
  );
  const again = plan.root.nodes.map(() => false);
  const kept: NodeRecord[] = [];
  for (const node of plan.nodes) {
    const { id, incoming, place, scope } = node;
    const record = latest.get(id);
    const hasEnded = record?.status === 'success' || record?.status === 'skipped';
    const isFirst = !hasStart && node === plan.trigger;
    const isWanted = id === from || isFirst || !hasEnded || hasChanged(node, plan, former);
    if (scope === plan.root && (isWanted || incoming.some((edge) => again[edge.source] === true))) {
      again[place] = true;
    } else if (record !== undefined && again[topLoopOf(node).place] !== true) {
      kept.push(record.status === 'skipped' ? record : withoutTokens(record));
    }
  }
  return kept;
}

/** Whether what a top-level node does has changed: it, what its templates read of the settings, or what leads to it. */
function hasChanged(node: PlanNode, plan: Plan, former: Plan): boolean {
  if (plan === former || node.scope !== plan.root) return false;
  const index = former.nodeIndexes.get(node.id);
  const before = index === undefined ? undefined : former.nodes[index];
  if (before === undefined || before.scope !== former.root) return true;
  // The output of a trigger is the input, whichever trigger it is.
  if (node.kind === 'trigger') return before.kind !== 'trigger';
  return canonicalJson(meaningOf(node, plan)) !== canonicalJson(meaningOf(before, former));
}

/** Everything that an output depends on, apart from other outputs. The retry policy of a node that succeeded no longer matters. */
function meaningOf(node: PlanNode, plan: Plan): JsonValue {
  const { id, type, writtenConfig: config, incoming, scope, body } = node;
  const toSource = ({ source, handle }: PlanEdge): JsonValue => [scope.nodes[source]?.id ?? null, handle];
  return {
    id,
    type,
    config,
    incoming: incoming.map(toSource).toSorted(byText),
    vars: varsReadBy(node, plan),
    timezone: plan.timezone,
    body:
      body?.nodes
        .map((inner) => ({ ...asObject(meaningOf(inner, plan)), onError: inner.onError }))
        .toSorted(byText) ?? null,
  };
}

function varsReadBy({ config, deferred }: PlanNode, { vars }: Plan): JsonValue {
  const paths = [config, ...deferred.map(({ template }) => template)].flatMap((each) => listPaths(each));
  const read = paths.filter(({ names: [root] }) => root === 'vars').map(({ names: [, name] }) => name);
  if (read.includes(undefined)) return vars;
  return Object.fromEntries(Object.entries(vars).filter(([name]) => read.includes(name)));
}

function asObject(value: JsonValue): { readonly [name: string]: JsonValue } {
  return value as { readonly [name: string]: JsonValue };
}

function byText(a: JsonValue, b: JsonValue): number {
  const [textA, textB] = [canonicalJson(a), canonicalJson(b)];
  return textA < textB ? -1 : textA > textB ? 1 : 0;
}

function withoutTokens<Kept extends Tokens>(record: Kept): Kept {
  const { childAiTokens: _, ...rest } = record;
  return { ...rest, consumedAiTokens: 0 } as Kept;
}

/** The top-level loop that contains a node, or the node itself. */
function topLoopOf(node: PlanNode): PlanNode {
  return node.scope.loop === null ? node : topLoopOf(node.scope.loop);
}
