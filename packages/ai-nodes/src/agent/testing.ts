import {
  type AiAnswer,
  type AiRequest,
  type AiToolCall,
  type CallbackService,
  type ChildResult,
  type FileService,
  type JsonObject,
  type NodeServices,
  success,
  type ToolService,
  type WorkflowService,
} from '@millrace/engine';
import { type RunOptions, runNode } from '@millrace/node-kit/testing';
import { aiAgent } from '../ai-agent.ts';
import { exampleAnswer, exampleCredential } from '../model/examples.ts';

/** Tools as they appear in a config. */
export const LOOK_UP = {
  kind: 'node',
  name: 'look_up',
  description: 'Finds an article.',
  parameters: {
    type: 'object',
    properties: { article: { type: 'string' } },
    required: ['article'],
    additionalProperties: false,
  },
  type: 'http.request',
  config: { url: 'https://shop.example.com/{{trigger.data.shop}}', query: { q: '{{args.article}}' } },
};
export const REFUND = {
  kind: 'workflow',
  name: 'refund',
  description: 'Pays back.',
  parameters: { type: 'object', properties: { order: { type: 'integer' } }, required: ['order'] },
  workflow_id: 7,
};
const CONFIG = { credential_id: 4, model: 'gpt-4.1-mini', prompt: 'Help.', tools: [LOOK_UP, REFUND] };

type AskedQuestion = Parameters<CallbackService['createApproval']>[0];
export const APPROVAL_URL = 'https://flows.example.com/api/v1/approvals/your-token';
type ToolOrder = Parameters<ToolService['run']>[0];
type StartOrder = Parameters<WorkflowService['start']>[0];

interface Script extends Omit<RunOptions, 'config' | 'ai' | 'services'> {
  readonly ai: readonly AiAnswer[] | ((request: AiRequest) => AiAnswer | Promise<AiAnswer>);
  readonly runTool?: ToolService['run'];
  readonly child?: Partial<ChildResult> | (() => Promise<ChildResult>);
  readonly start?: WorkflowService['start'];
  readonly files?: FileService;
}

/** Runs the node with a scripted model and returns the model's requests. */
export async function converse(config: JsonObject, script: Script) {
  const { ai, runTool, child = {}, start, files, ...options } = script;
  const asked: AiRequest[] = [];
  const questions: AskedQuestion[] = [];
  const orders: ToolOrder[] = [];
  const starts: StartOrder[] = [];
  const services: Partial<NodeServices> = {
    ...(files === undefined ? {} : { files }),
    callbacks: {
      createCallback: () => Promise.reject(new Error('not used')),
      createApproval: async (question) => {
        questions.push(question);
        return { url: APPROVAL_URL, choiceUrls: { approve: `${APPROVAL_URL}?choice=approve` } };
      },
    },
    tools: {
      run: async (order) => {
        orders.push(order);
        return (await runTool?.(order)) ?? (success({ found: 3 }) as never);
      },
    },
    workflows: {
      start: async (order) => {
        starts.push(order);
        return (await start?.(order)) ?? { executionId: 70 + starts.length, workflowVersion: 1 };
      },
      ended: async (executionId) =>
        typeof child === 'function'
          ? child()
          : {
              executionId,
              status: 'completed',
              output: { paid: true },
              error: null,
              consumedAiTokens: 0,
              ...child,
            },
      result: () => Promise.reject(new Error('not used')),
    },
  };
  const { result } = await runNode(aiAgent, {
    credential: exampleCredential('anthropic'),
    ...options,
    config: { ...CONFIG, ...config },
    services,
    ai: (request) => {
      asked.push(structuredClone(request));
      if (typeof ai === 'function') return ai(request);
      const answer = ai[asked.length - 1];
      if (answer === undefined) throw new Error('the script has no more answers');
      return answer;
    },
  });
  return { result, asked, orders, starts, questions };
}

/** A response that calls tools. */
export function calling(...calls: readonly Partial<AiToolCall>[]): AiAnswer {
  return {
    ...exampleAnswer('', 100, 10),
    finishReason: 'tool_calls',
    toolCalls: calls.map((call, index) => ({
      id: `c${index + 1}`,
      name: 'look_up',
      arguments: { article: 'A-1' },
      ...call,
    })),
  };
}

/** A response that ends the conversation. */
export const done = exampleAnswer('Three are left.', 150, 5);

/** The results the model had received before its n-th response. */
export function resultsBefore(asked: readonly AiRequest[], number: number): readonly [unknown, boolean][] {
  const { messages = [] } = asked[number - 1] ?? {};
  return messages.flatMap((turn): [unknown, boolean][] =>
    turn.role === 'tool' ? [[turn.result, turn.isError]] : [],
  );
}
