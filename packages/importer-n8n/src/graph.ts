import type { N8nLink, N8nNode, N8nWorkflow } from './read.ts';

/** The part of a workflow that its triggers start. */
export interface Started {
  readonly triggers: readonly N8nNode[];
  /** In the order in which they can be compiled: each after all that come before it. */
  readonly order: readonly N8nNode[];
  /** Links without those that lead back. */
  readonly links: readonly N8nLink[];
  /** Links back to a Loop Over Items node: what they bring is an iteration's result. */
  readonly returns: readonly N8nLink[];
  /** Other links that lead back. */
  readonly cycles: readonly N8nLink[];
}

const TRIGGERS = new Set([
  'webhook',
  'start',
  'cron',
  'interval',
  'emailReadImap',
  'manualChatTrigger',
  'chatTrigger',
  'formTrigger',
]);

/** Whether a node starts executions. */
export function isTrigger({ kind }: N8nNode): boolean {
  return TRIGGERS.has(kind) || kind.endsWith('Trigger');
}

/** The Loop Over Items node's output with the items of a round, and the one with the end. */
export function batchOutputs({ version }: N8nNode): { readonly loop: number; readonly done: number } {
  if (version >= 3) return { loop: 1, done: 0 };
  return { loop: 0, done: 1 };
}

/**
 * The triggers of a workflow, those first that start by themselves. Those that start nothing are left out, and disabled ones of what another
 * trigger starts, too.
 */
export function triggersOf(workflow: N8nWorkflow): readonly N8nNode[] {
  const outgoing = Map.groupBy(workflow.links, ({ from }) => from);
  const triggers = [...workflow.nodes.values()].filter(isTrigger);
  const reached = new Map(triggers.map((trigger) => [trigger, reachable(trigger.name, outgoing)]));
  const order = triggers.toSorted((left, right) => rank(left) - rank(right));
  const kept: N8nNode[] = [];
  for (const trigger of order) {
    const nodes = reached.get(trigger) ?? new Set();
    const isEmpty = nodes.size <= 1 && (outgoing.get(trigger.name) ?? []).length === 0;
    const isCovered = [...nodes].every(
      (name) => name === trigger.name || kept.some((other) => reached.get(other)?.has(name) === true),
    );
    const isSpare = kept.length > 0 && (isEmpty || (isCovered && trigger.raw.disabled === true));
    if (!isSpare) kept.push(trigger);
  }
  return kept;
}

function rank({ kind, raw }: N8nNode): number {
  if (raw.disabled === true) return 4;
  if (/^(?:manualTrigger|start)$/.test(kind)) return 3;
  return /^(?:executeWorkflowTrigger|errorTrigger|evaluationTrigger)$/.test(kind) ? 2 : 1;
}

/** Everything that triggers start. */
export function startedBy(triggers: readonly N8nNode[], workflow: N8nWorkflow): Started {
  const outgoing = Map.groupBy(workflow.links, ({ from }) => from);
  const links: N8nLink[] = [];
  const returns: N8nLink[] = [];
  const cycles: N8nLink[] = [];
  const state = new Map<string, 'open' | 'done'>();
  const finished: string[] = [];
  // Depth first without recursion: a hostile file may have a very long path.
  const stack: { name: string; next: number }[] = [];
  const waiting = [...triggers];
  let trigger: N8nNode | undefined;
  for (;;) {
    const top = stack.at(-1);
    if (top === undefined) {
      trigger = waiting.shift();
      if (trigger === undefined) break;
      state.set(trigger.name, 'open');
      stack.push({ name: trigger.name, next: 0 });
      continue;
    }
    const link = inOrder(outgoing.get(top.name) ?? [], workflow.nodes.get(top.name))[top.next];
    top.next += 1;
    if (link === undefined) {
      state.set(top.name, 'done');
      finished.push(top.name);
      stack.pop();
      continue;
    }
    const seen = state.get(link.to);
    const target = workflow.nodes.get(link.to);
    if (target === undefined || (isTrigger(target) && target !== trigger)) continue;
    if (seen === 'open') {
      (target.kind === 'splitInBatches' ? returns : cycles).push(link);
      continue;
    }
    links.push(link);
    if (seen === undefined) {
      state.set(link.to, 'open');
      stack.push({ name: link.to, next: 0 });
    }
  }
  const order = finished.toReversed().flatMap((name) => workflow.nodes.get(name) ?? []);
  return { triggers, order, links, returns, cycles };
}

/** What follows the end of a loop is visited first, so that it comes last in the order. */
function inOrder(links: readonly N8nLink[], node: N8nNode | undefined): readonly N8nLink[] {
  if (node?.kind !== 'splitInBatches') return links;
  const { done } = batchOutputs(node);
  return links.toSorted((left, right) => Number(right.output === done) - Number(left.output === done));
}

function reachable(from: string, outgoing: ReadonlyMap<string, readonly N8nLink[]>): ReadonlySet<string> {
  const found = new Set([from]);
  const queue = [from];
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    for (const { to } of outgoing.get(at) ?? []) {
      if (found.has(to)) continue;
      found.add(to);
      queue.push(to);
    }
  }
  return found;
}
