import { isJsonObject, type JsonValue } from '@millrace/engine';
import { literalValue, TOP } from '@millrace/importer-kit/refs';
import type { OriginalNode } from '@millrace/importer-kit/report';
import { type Message, message } from '@millrace/messages';
import type { Arrival, Compiler, Out } from './compiler.ts';
import type { N8nNode } from './read.ts';
import type { Repeats } from './repeats.ts';

/** A node as the report names it. */
export function at({ name, type }: N8nNode): OriginalNode {
  return { node: name, type };
}

/** What runs in connection with other nodes only. */
const PARTS =
  /^(?:lm[A-Z]|embeddings|memory(?!Manager|ChatRetriever)|textSplitter|document[A-Z]|outputParser|retriever|reranker|tool(?!Executor)[A-Z])/;

/** Whether a node is a part of others, and n8n itself can't run it where it stands. */
export function isPart({ type, kind }: N8nNode): boolean {
  return type.startsWith('@n8n/n8n-nodes-langchain.') && PARTS.test(kind);
}

/** n8n passes the items of a node that is switched off through. A part that stands among other nodes does as little. */
export function skip(compiler: Compiler, node: N8nNode, { ref, exits }: Arrival): readonly Out[] {
  const isOff = node.raw.disabled === true;
  compiler.approximate(node, isOff ? message('import.switched_off') : message('import.part_in_line'));
  const id = compiler.add(node, {
    type: 'core.set',
    label: isOff ? `${node.name} (off)` : node.name,
    config: { values: {} },
    scope: ref.scope,
    after: exits,
  });
  return [{ exit: { id, handle: 'out' }, ref }];
}

/** A node that shows the original, and keeps the workflow from being activated. */
export function placeholder(
  compiler: Compiler,
  node: N8nNode,
  arrival: Arrival | null,
  reason: Message,
): readonly Out[] {
  compiler.report.dropped(at(node), reason);
  const scope = arrival?.ref.scope ?? TOP;
  dropPartsOf(compiler, node);
  const id = compiler.add(node, {
    type: 'core.placeholder',
    config: {
      product: 'n8n',
      type: node.type,
      name: node.name,
      parameters: shortened(literalValue(node.parameters)),
    },
    scope,
    after: arrival?.exits ?? [],
  });
  return [
    { exit: { id, handle: 'out' }, ref: { kind: 'one', path: `nodes.${id}.output`, scope, owner: id } },
  ];
}

const MAX_KEPT = 100_000;

function shortened(parameters: JsonValue): JsonValue {
  const size = JSON.stringify(parameters).length;
  return size <= MAX_KEPT && isJsonObject(parameters) ? parameters : {};
}

const ROLES = [
  'ai_languageModel',
  'ai_memory',
  'ai_tool',
  'ai_outputParser',
  'ai_embedding',
  'ai_vectorStore',
  'ai_document',
  'ai_textSplitter',
  'ai_retriever',
];

/** What is connected to a node that couldn't be made can't be used either. */
export function dropPartsOf(compiler: Compiler, { name }: N8nNode): void {
  const seen = new Set<string>();
  for (const role of ROLES) for (const part of compiler.partsOf(name, role)) dropParts(compiler, part, seen);
}

function dropParts(compiler: Compiler, part: N8nNode, seen: Set<string>): void {
  if (seen.has(part.name)) return;
  seen.add(part.name);
  compiler.report.dropped(at(part), message('import.part_of_dropped'));
  for (const { part: name, of } of compiler.workflow.parts) {
    const inner = compiler.workflow.nodes.get(name);
    if (of === part.name && inner !== undefined) dropParts(compiler, inner, seen);
  }
}

/** Where the original goes back to an earlier node, and no loop does the same. */
export function placeBackLinks(compiler: Compiler, repeats: Repeats): void {
  repeats.close();
  for (const link of compiler.started.cycles) {
    if (repeats.has(link)) continue;
    const { from, output, to } = link;
    const source = compiler.workflow.nodes.get(from);
    const out = compiler.outOf({ from, output });
    if (source === undefined || out === undefined) continue;
    const reason = message('import.goes_back', { node: to });
    compiler.report.dropped(at(source), reason);
    compiler.add(source, {
      type: 'core.placeholder',
      label: `Back to ${to}`,
      config: { product: 'n8n', type: 'connection', name: `${from} → ${to}`, parameters: {} },
      scope: out.ref.scope,
      after: [out.exit],
      position: { x: source.position.x + 240, y: source.position.y + 120 },
    });
  }
}
