import {
  describeUnusableSchema,
  type JsonObject,
  type NodeContext,
  ServiceError,
  stringifyJson,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import type { ToolApproval } from '../agent/approval-config.ts';
import { type McpSession, openMcpSession } from './client.ts';
import type { McpServer } from './config.ts';

const MAX_TOOLS = 64;
/** Descriptions and schemas of all tools together: a model reads them with every step. */
const MAX_DESCRIBED_BYTES = 256 * 1024;

/** A tool of a server, under the name that the model calls it by. */
export interface McpTool extends ToolApproval {
  readonly kind: 'mcp';
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  /** Whether arguments can be checked before they are sent. */
  readonly isCheckable: boolean;
  /** Its name on the server. */
  readonly original: string;
  readonly session: McpSession;
}

/**
 * Opens sessions with all servers and takes the allowed tools of each.
 * @throws ServiceError mcp_*; HttpClientError. Sessions that were opened are closed then
 */
export async function openMcpTools(
  servers: readonly McpServer[],
  context: NodeContext,
  signal: AbortSignal,
  timeoutMs: number,
) {
  const sessions: McpSession[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(sessions.map((session) => session.close()));
  };
  try {
    const tools: McpTool[] = [];
    for (const server of servers) {
      const { name, url, credential_id: credentialId = 0 } = server;
      const session = await openMcpSession({ name, url, credentialId }, context, signal, timeoutMs);
      sessions.push(session);
      tools.push(...(await allowedOf(server, session)));
    }
    checkAll(tools);
    return { tools, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function allowedOf(server: McpServer, session: McpSession): Promise<readonly McpTool[]> {
  const listed = new Map((await session.list()).map((tool) => [tool.name, tool]));
  return [...new Set(server.tools)].map((wanted): McpTool => {
    const tool = listed.get(wanted);
    if (tool === undefined) {
      const names = [...listed.keys()].slice(0, 30).join(', ');
      throw new ServiceError(
        'mcp_tool_missing',
        message('nodes.mcp_tool_missing', { server: server.name, tool: wanted, tools: names }),
      );
    }
    return {
      kind: 'mcp',
      name: `${server.name}_${wanted.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`.slice(0, 64),
      description: tool.description,
      parameters: { ...tool.parameters, type: 'object' },
      isCheckable: describeUnusableSchema(tool.parameters) === null,
      original: wanted,
      session,
      ...approvalOf(server, wanted),
    };
  });
}

function approvalOf(
  { approval, approval_when: condition, approval_edit: mayChange, approval_tools: only = [] }: McpServer,
  tool: string,
): ToolApproval {
  if (approval === undefined || (only.length > 0 && !only.includes(tool))) return {};
  return {
    approval,
    ...(condition === undefined ? {} : { approval_when: condition }),
    ...(mayChange === undefined ? {} : { approval_edit: mayChange }),
  };
}

function checkAll(tools: readonly McpTool[]): void {
  const bytes = tools.reduce(
    (sum, { description, parameters }) =>
      sum + Buffer.byteLength(description) + Buffer.byteLength(stringifyJson(parameters)),
    0,
  );
  if (tools.length > MAX_TOOLS || bytes > MAX_DESCRIBED_BYTES) {
    throw new ServiceError(
      'mcp_too_many_tools',
      message('nodes.mcp_tools_too_large', { max: MAX_TOOLS, kib: MAX_DESCRIBED_BYTES / 1024 }),
    );
  }
}
