import {
  type AiToolCall,
  canonicalJson,
  describeError,
  HttpClientError,
  type JsonObject,
  type JsonValue,
  type NodeContext,
  RenderLimitError,
  ServiceError,
  textOrJson,
} from '@millrace/engine';
import { sha256Hex } from '@millrace/node-kit/digest';
import { type AgentTool, argumentsFault } from './tools.ts';

/** The result of a call: returned to the model, and shown in the node's output. */
export interface CallOutcome {
  readonly value: JsonValue;
  readonly isError: boolean;
  readonly consumedAiTokens: number;
  /** The share of a child execution. */
  readonly childAiTokens?: number;
}

/** The context of calls. */
export interface CallSite {
  readonly context: NodeContext;
  readonly tools: readonly AgentTool[];
  /** Maximum characters of a result for the model. */
  readonly resultLimit: number;
  /** The remaining budgets for the call; null without one. */
  readonly aiTokensLeft: number | null;
  /** Aborted with the node, and when its time is over. */
  readonly signal: AbortSignal;
}

/**
 * Runs one call. Errors are returned to the model, which may find another way; only a tool that can never be run ends the node.
 * @param place the call's step and its index there: the same after a repeat of the node
 * @throws ServiceError tool_not_allowed
 */
export async function runToolCall(
  call: Omit<AiToolCall, 'id'>,
  place: { readonly step: number; readonly index: number },
  site: CallSite,
): Promise<CallOutcome> {
  const tool = site.tools.find(({ name }) => name === call.name);
  if (tool === undefined) {
    const names = site.tools.map(({ name }) => name).join(', ');
    return refusal(
      `There is no tool ${call.name}. ${names === '' ? 'There are none.' : `The tools are: ${names}.`}`,
    );
  }
  const fault = call.problem ?? argumentsFault(tool, call.arguments);
  if (fault !== undefined) return refusal(fault);
  const outcome = await runTool(tool, call.arguments, await callKeyOf(call, place), site);
  return { ...outcome, value: cut(outcome.value, site.resultLimit) };
}

/** Returned to the model when it made a mistake; nothing was run. */
export function refusal(message: string): CallOutcome {
  return { value: message, isError: true, consumedAiTokens: 0 };
}

async function runTool(
  tool: AgentTool,
  args: JsonObject,
  callKey: string,
  { context, signal, aiTokensLeft }: CallSite,
): Promise<CallOutcome> {
  try {
    if (tool.kind === 'mcp') {
      const key = `${context.idempotencyKey}.${callKey}`;
      return { ...(await tool.session.call(tool.original, args, key)), consumedAiTokens: 0 };
    }
    if (tool.kind === 'workflow') {
      const order = { workflowId: tool.workflow_id, input: args, waits: true, callKey };
      const { executionId } = await context.workflows.start(order);
      const child = await context.workflows.ended(executionId, signal);
      const { consumedAiTokens } = child;
      const tokens = { consumedAiTokens, childAiTokens: consumedAiTokens };
      return child.status === 'completed'
        ? { value: child.output, isError: false, ...tokens }
        : {
            value: { status: child.status, error: child.error === null ? null : describeError(child.error) },
            isError: true,
            ...tokens,
          };
    }
    const config = context.render(tool.config, args) as JsonObject;
    const result = await context.tools.run({ type: tool.type, config, callKey, aiTokensLeft });
    const { consumedAiTokens, childAiTokens = 0 } = result;
    const tokens = { consumedAiTokens, childAiTokens };
    if (result.kind === 'success') return { value: result.output, isError: false, ...tokens };
    const { output } = result;
    const value = { error: describeError(result), ...(output === undefined ? {} : { output }) };
    return { value, isError: true, ...tokens };
  } catch (error) {
    // Whatever the error: the node reports why it ends.
    if (signal.aborted) return refusal('The call was not finished: the node has ended.');
    if (error instanceof RenderLimitError) return refusal(error.message);
    if (error instanceof HttpClientError) {
      const { code, message } = error;
      return { value: { error: { code, message } }, isError: true, consumedAiTokens: 0 };
    }
    if (!(error instanceof ServiceError) || error.code === 'tool_not_allowed') throw error;
    const { code, message, consumedAiTokens } = error;
    return { value: { error: { code, message } }, isError: true, consumedAiTokens };
  }
}

/**
 * Distinguishes calls of one node. Includes tool and arguments: when the node restarts and the model decides differently, another call must
 * not be taken for a repeat of this one.
 */
async function callKeyOf(
  { name, arguments: args }: Omit<AiToolCall, 'id'>,
  { step, index }: { readonly step: number; readonly index: number },
): Promise<string> {
  const digest = await sha256Hex(canonicalJson([name, args]));
  return `${step}.${index}.${digest.slice(0, 16)}`;
}

/** Truncates a result that is too long for a model, with a note. */
function cut(value: JsonValue, limit: number): JsonValue {
  const text = textOrJson(value);
  if (text.length <= limit) return value;
  return `${text.slice(0, limit)}\n[cut: the result has ${text.length} characters, these are the first ${limit}]`;
}
