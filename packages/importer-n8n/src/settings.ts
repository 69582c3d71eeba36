import { type FlowSettings, isNamedZone, type JsonValue } from '@millrace/engine';
import type { Compiler } from './compiler.ts';
import { isTrigger } from './graph.ts';
import { type N8nNode, textOf } from './read.ts';

const NOTE_COLOURS = ['yellow', 'yellow', 'yellow', 'grey', 'green', 'blue', 'grey', 'grey'] as const;

/** The workflow's settings: notes, time zone, constants. */
export function settingsOf(compiler: Compiler): FlowSettings {
  const { workflow, variables } = compiler;
  const notes = [...workflow.nodes.values()]
    .filter(({ kind }) => kind === 'stickyNote')
    .map(({ parameters, position }, index) => ({
      id: `note_${index + 1}`,
      text: (textOf(parameters.content) ?? '').slice(0, 10_000),
      position: { x: Math.round(position.x), y: Math.round(position.y) },
      size: { width: sizeOf(parameters.width, 240), height: sizeOf(parameters.height, 160) },
      colour: NOTE_COLOURS[Number(parameters.color ?? 1)] ?? 'yellow',
    }));
  const unreached = leftOut(compiler);
  if (unreached.length > 0) {
    const names = unreached.map(({ name }) => `- ${name}`).join('\n');
    const [first] = unreached;
    notes.push({
      id: `note_${notes.length + 1}`,
      text: `Nothing leads to these nodes, so they weren't imported:\n${names}`.slice(0, 10_000),
      position: { x: Math.round(first?.position.x ?? 0), y: Math.round(first?.position.y ?? 0) },
      size: { width: 320, height: 160 },
      colour: 'grey',
    });
  }
  const zone = textOf(workflow.settings.timezone);
  return {
    ...(notes.length === 0 ? {} : { notes }),
    ...(zone === null || !isNamedZone(zone) ? {} : { timezone: zone }),
    ...(variables.size === 0 ? {} : { vars: Object.fromEntries([...variables].map((name) => [name, ''])) }),
  };
}

/** Nodes that no trigger leads to, and that belong to none that one leads to. */
function leftOut({ workflow, started }: Compiler): readonly N8nNode[] {
  const placed = new Set([
    ...started.order.map(({ name }) => name),
    ...workflow.links.map(({ to }) => to),
    ...workflow.parts.map(({ part }) => part),
  ]);
  return [...workflow.nodes.values()].filter(
    (node) => node.kind !== 'stickyNote' && !isTrigger(node) && !placed.has(node.name),
  );
}

function sizeOf(value: JsonValue | undefined, otherwise: number): number {
  return typeof value === 'number' && value > 0 && value < 1e5 ? Math.round(value * 1.3) : otherwise;
}
