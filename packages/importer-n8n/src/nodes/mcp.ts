import type { JsonValue } from '@millrace/engine';
import { arrayOf } from '@millrace/importer-kit/values';
import { message } from '@millrace/messages';
import { asText, type N8nNode, textOf } from '../read.ts';
import type { Step } from '../step.ts';
import { partParam } from './parts.ts';

/** Whether a tool of an agent is a server of the Model Context Protocol, which has tools of its own. */
export function isServer({ type }: N8nNode): boolean {
  return type === '@n8n/n8n-nodes-langchain.mcpClientTool';
}

/** An agent has at most so many. */
const MAX_SERVERS = 8;

/** The servers of an agent. Here their tools are named: the model sees no others. */
export function mcpServers(step: Step, nodes: readonly N8nNode[]): JsonValue[] {
  const names = new Set<string>();
  for (const node of nodes.slice(MAX_SERVERS))
    step.compiler.report.dropped(
      { node: node.name, type: node.type },
      message('import.servers_left_out', { max: MAX_SERVERS }),
    );
  return nodes.slice(0, MAX_SERVERS).map((node) => {
    const approximate = (what: Parameters<Step['approximate']>[0]) => step.compiler.approximate(node, what);
    const { parameters } = node;
    const url = asText(partParam(step, node, 'endpointUrl') ?? partParam(step, node, 'sseEndpoint') ?? '');
    const transport = textOf(parameters.serverTransport) ?? (node.version < 1.2 ? 'sse' : 'httpStreamable');
    const tools =
      textOf(parameters.include) === 'selected'
        ? arrayOf(parameters.includeTools).flatMap((each) => textOf(each) ?? [])
        : [];
    const isSecret = (textOf(parameters.authentication) ?? 'none') !== 'none';
    step.compiler.report.mapped({ node: node.name, type: node.type });
    if (transport === 'sse') approximate(message('import.streamable_only'));
    if (tools.length === 0) approximate(message('import.name_mcp_tools'));
    if (isSecret) approximate(message('import.choose_credential'));
    const name = serverName(names, node.name);
    names.add(name);
    return { name, url, tools: tools.slice(0, MAX_TOOLS), ...(isSecret ? { credential_id: 0 } : {}) };
  });
}

const MAX_TOOLS = 64;

/** A name that a server may have, each once. */
function serverName(taken: ReadonlySet<string>, given: string): string {
  const plain = given
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^[^A-Za-z]+|_+$/g, '')
    .slice(0, 16);
  const wanted = plain === '' ? 'mcp' : plain;
  let name = wanted;
  for (let number = 2; taken.has(name); number += 1) name = `${wanted}_${number}`;
  return name;
}
