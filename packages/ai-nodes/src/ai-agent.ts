import { failure, type NodeContext, type NodeResult, success } from '@millrace/engine';
import { message } from '@millrace/messages';
import { checkedNode } from '@millrace/node-kit/define';
import { serviceFailure } from '@millrace/node-kit/service-failure';
import { Type } from 'typebox';
import { agentRequest, openingsOf, runAgent, takeDecision } from './agent/agent.ts';
import { APPROVAL_SECTION, approvalProperties } from './agent/approval-config.ts';
import { describeApprovals } from './agent/approvals.ts';
import { type AgentTool, findToolFaults, nameTaken, readTools, toolsProperty } from './agent/tools.ts';
import { findServerFaults, type McpServer, readServers, serversProperty } from './mcp/config.ts';
import { openMcpTools } from './mcp/tools.ts';
import { MODEL_REQUIRED, MODEL_RETRY, modelProperties } from './model/config.ts';
import { exampleAnswer, exampleCredential } from './model/examples.ts';
import { openModelFiles, readModelFiles } from './model/files.ts';
import { recall } from './model/memory.ts';
import { MEMORY_SECTION } from './model/memory-config.ts';
import { describeRequest, limitOf, problemOf } from './model/request.ts';

const MAX_TOTAL_TIMEOUT_MS = 3_600_000;

const stockTool = {
  kind: 'node',
  name: 'look_up_stock',
  description: 'How many pieces of an article are in stock.',
  parameters: {
    type: 'object',
    properties: { article: { type: 'string' } },
    required: ['article'],
    additionalProperties: false,
  },
  type: 'http.request',
  config: { url: 'https://shop.example.com/stock', query: { article: '{{args.article}}' } },
};

export const aiAgent = checkedNode({
  type: 'ai.agent',
  title: 'Agent',
  description:
    'Lets a language model find an answer by calling tools: nodes and workflows of this organisation. Steps, tokens and time are limited, and the output lists every step. In test mode, nothing is sent and no tool runs.',
  icon: 'bot',
  kind: 'effect',
  properties: {
    ...modelProperties,
    tools: toolsProperty,
    mcp_servers: serversProperty,
    ...approvalProperties,
    max_steps: Type.Integer({
      title: 'Maximum steps',
      description: 'How many answers the model may give, including those that call tools.',
      minimum: 1,
      maximum: 50,
      default: 10,
    }),
    token_budget: Type.Union([Type.Integer({ minimum: 1, maximum: 100_000_000 }), Type.Null()], {
      title: 'Token budget',
      description:
        'Tokens of all steps together, including tools that use models. Applies in addition to the budget of the execution. Empty: no limit.',
      default: null,
    }),
    tool_result_chars: Type.Integer({
      title: 'Maximum tool result',
      description:
        'How many characters of a result the model gets. The rest is cut off, and the model is informed of that.',
      minimum: 100,
      maximum: 1_000_000,
      default: 20_000,
    }),
    total_timeout_ms: Type.Integer({
      title: 'Total timeout',
      description: 'Time limit for the whole conversation in milliseconds, including tools.',
      minimum: 1,
      maximum: MAX_TOTAL_TIMEOUT_MS,
      default: 600_000,
    }),
  },
  required: MODEL_REQUIRED,
  deferred: {
    tools: 'arguments',
    mcp_servers: 'arguments',
    approval_title: 'arguments',
    approval_notify: 'arguments',
    approval_request: 'arguments',
  },
  defaultTimeoutMs: MAX_TOTAL_TIMEOUT_MS + 10_000,
  defaultRetry: MODEL_RETRY,
  findFaults: (config) => [...findToolFaults(config), ...findServerFaults(config)],
  form: {
    main: ['credential_id', 'model', 'system', 'prompt', 'files', 'tools', 'mcp_servers', 'output', 'schema'],
    sections: [
      { title: 'Model settings', fields: ['temperature', 'max_tokens'] },
      MEMORY_SECTION,
      APPROVAL_SECTION,
      {
        title: 'Limits',
        fields: ['max_steps', 'token_budget', 'tool_result_chars', 'timeout_ms', 'total_timeout_ms'],
      },
    ],
  },
  synonyms: ['llm', 'chatgpt', 'gpt', 'openai', 'claude', 'assistant', 'tools', 'autonomous', 'bot'],
  examples: [
    {
      title: 'Answer a question without a tool',
      config: {
        credential_id: 1,
        model: 'claude-sonnet-4-5',
        system: 'You answer questions about the stock of a shop.',
        prompt: '{{trigger.data.question}}',
        tools: [stockTool],
        token_budget: 20_000,
      },
      trigger: { question: 'Hello, who are you?' },
      credential: exampleCredential('anthropic'),
      ai: [exampleAnswer('I know what is in stock. Which article is it?', 210, 14)],
      expect: {
        output: {
          text: 'I know what is in stock. Which article is it?',
          finish_reason: 'stop',
          usage: { input_tokens: 210, output_tokens: 14, total_tokens: 224 },
          model: 'claude-sonnet-4-5',
          steps: [
            {
              text: 'I know what is in stock. Which article is it?',
              tool_calls: [],
              usage: { input_tokens: 210, output_tokens: 14, total_tokens: 224 },
            },
          ],
        },
        consumedAiTokens: 224,
      },
    },
    {
      title: "The model doesn't finish",
      config: {
        credential_id: 1,
        model: 'gpt-4.1-mini',
        prompt: 'Is article A-1 in stock?',
        tools: [stockTool],
        max_steps: 1,
      },
      credential: exampleCredential('openai_compatible'),
      ai: [
        {
          ...exampleAnswer('', 180, 20),
          finishReason: 'tool_calls',
          toolCalls: [{ id: 'call_1', name: 'look_up_stock', arguments: { article: 'A-1' } }],
        },
      ],
      expect: { failure: { code: 'agent_step_limit' } },
    },
  ],
  async run(config, context) {
    const problem = problemOf(config);
    if (problem !== undefined) return failure('invalid_config', problem);
    const tools = readTools(config.tools, (template, args) => context.render(template, args));
    if ('key' in tools) return failure('invalid_config', tools);
    const servers = readServers(config.mcp_servers, (template, args) => context.render(template, args));
    if ('key' in servers) return failure('invalid_config', servers);
    const credential = await context.credentials.open(config.credential_id, { types: ['ai'] });
    const recalled = await recall(config, context);
    const opened = await openModelFiles(config.files, context.files);
    if (!context.execution.isTestMode) {
      const files = await readModelFiles(opened, context);
      return withServers(servers, config, context, async (more) => {
        const all = [...tools, ...more];
        const name = nameTaken(all);
        return name === undefined
          ? runAgent(config, { tools: all, files }, credential, recalled, context)
          : failure('invalid_config', message('nodes.tool_name_taken', { name }));
      });
    }
    const { maxOutputTokens } = limitOf(config, { left: context.aiTokensLeft });
    const limits = { maxOutputTokens, timeoutMs: config.timeout_ms };
    const request = agentRequest(config, tools, recalled, openingsOf(config, recalled), limits);
    const listed = servers.map(({ name, url, tools: allowed }) => ({ name, url, tools: allowed }));
    const shown = describeRequest(request, credential, opened);
    const asks = describeApprovals(tools, servers);
    return success({
      dry_run: true,
      request: listed.length === 0 ? shown : { ...shown, mcp_servers: listed },
      ...(asks.length === 0 ? {} : { approvals: asks }),
    });
  },
  resume: (_config, _context, signal, waiting) => takeDecision(signal, waiting),
});

/** Of one request to a server; the conversation as a whole has a limit of its own. */
const SERVER_TIMEOUT_MS = 120_000;

/** Runs the agent with the tools of its servers, and ends their sessions. */
async function withServers(
  servers: readonly McpServer[],
  { total_timeout_ms: totalMs }: { readonly total_timeout_ms: number },
  context: NodeContext,
  run: (tools: readonly AgentTool[]) => Promise<NodeResult>,
): Promise<NodeResult> {
  if (servers.length === 0) return run([]);
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(totalMs)]);
  let opened: Awaited<ReturnType<typeof openMcpTools>>;
  try {
    opened = await openMcpTools(servers, context, signal, Math.min(totalMs, SERVER_TIMEOUT_MS));
  } catch (error) {
    // With the steps of the attempt before, which the next one continues from.
    const { previousOutput: output } = context;
    return { ...serviceFailure(error), ...(output === null ? {} : { output }) };
  }
  try {
    return await run(opened.tools);
  } finally {
    await opened.close();
  }
}
