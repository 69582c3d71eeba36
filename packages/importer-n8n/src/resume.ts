import type { Compiler } from './compiler.ts';
import { asText, type N8nNode } from './read.ts';

/** How the address is read that ends a wait. */
export const RESUME_URL = /^\s*\$execution\.resumeUrl\s*$/;
const SECONDS: { readonly [unit: string]: number } = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 };
const MAX_WAIT_S = 30 * 86_400;

/** Whether a node passes on the address that ends a Wait node right after it: here both are one node. */
export function announcesWait(compiler: Compiler, node: N8nNode): boolean {
  return waitAfter(compiler, node) !== null;
}

/** Whether a Wait node is one with the node before it. */
export function isAnnounced(compiler: Compiler, { name }: N8nNode): boolean {
  return compiler.started.links.some(({ from, to }) => {
    const before = compiler.workflow.nodes.get(from);
    return to === name && before !== undefined && waitAfter(compiler, before)?.name === name;
  });
}

function waitAfter({ started, workflow }: Compiler, node: N8nNode): N8nNode | null {
  if (!JSON.stringify(node.parameters).includes('$execution.resumeUrl')) return null;
  const [link, ...others] = started.links.filter(({ from }) => from === node.name);
  const next = link === undefined || others.length > 0 ? undefined : workflow.nodes.get(link.to);
  if (next?.kind !== 'wait' || next.parameters.resume !== 'webhook' || next.raw.disabled === true)
    return null;
  return started.links.filter(({ to }) => to === next.name).length === 1 ? next : null;
}

/** How long the Wait node after this one waits, in seconds. */
export function limitOfNext(compiler: Compiler, node: N8nNode): number {
  const wait = waitAfter(compiler, node);
  return wait === null ? MAX_WAIT_S : limitOf(wait);
}

/** How long a Wait node waits, in seconds. */
export function limitOf({ parameters }: N8nNode): number {
  const { limitWaitTime, resumeAmount = 1, resumeUnit = 'hours' } = parameters;
  const seconds = Number(resumeAmount) * (SECONDS[asText(resumeUnit)] ?? 3_600);
  const isLimited = limitWaitTime === true && Number.isFinite(seconds) && seconds > 0;
  return isLimited ? Math.min(Math.max(1, Math.round(seconds)), MAX_WAIT_S) : MAX_WAIT_S;
}
