import {
  type AiMessage,
  type AiToolCall,
  type AiUsage,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@millrace/engine';
import { presentUsage } from './request.ts';

/** One response of the model with the results of its tool calls, as in the node's output. */
export interface AgentStep {
  readonly text: string;
  readonly toolCalls: readonly AgentToolCall[];
  readonly usage: AiUsage;
}

export interface AgentToolCall {
  readonly name: string;
  readonly arguments: JsonObject;
  /** As returned to the model. */
  readonly value: JsonValue;
  readonly isError: boolean;
  /** By the node or workflow that was called. */
  readonly consumedAiTokens: number;
  readonly durationMs: number;
}

export function presentStep({ text, toolCalls, usage }: AgentStep): JsonObject {
  return {
    text,
    tool_calls: toolCalls.map((call) => ({
      name: call.name,
      arguments: call.arguments,
      ...(call.isError ? { error: call.value } : { result: call.value }),
      ...(call.consumedAiTokens === 0 ? {} : { consumed_ai_tokens: call.consumedAiTokens }),
      duration_ms: call.durationMs,
    })),
    usage: presentUsage(usage),
  };
}

/**
 * The steps of an earlier attempt of the node, from the output it failed with: the next attempt continues from them instead of paying and
 * acting again. A step without tools was a final answer, which is requested again.
 */
export function readSteps(output: JsonObject | null): readonly AgentStep[] {
  const steps = output?.steps ?? null;
  const read = isJsonArray(steps) ? steps.map(readStep) : [];
  const end = read.findIndex((step) => step === undefined || step.toolCalls.length === 0);
  return (end === -1 ? read : read.slice(0, end)) as readonly AgentStep[];
}

function readStep(value: JsonValue): AgentStep | undefined {
  if (!isJsonObject(value)) return undefined;
  const { text, tool_calls: calls, usage } = value;
  if (typeof text !== 'string' || !isJsonArray(calls ?? null) || !isJsonObject(usage ?? null))
    return undefined;
  const toolCalls = (calls as readonly JsonValue[]).map(readCall);
  if (toolCalls.includes(undefined)) return undefined;
  const { input_tokens, output_tokens, total_tokens } = usage as JsonObject;
  return {
    text,
    toolCalls: toolCalls as AgentToolCall[],
    usage: {
      inputTokens: Number(input_tokens),
      outputTokens: Number(output_tokens),
      totalTokens: Number(total_tokens),
    },
  };
}

function readCall(value: JsonValue): AgentToolCall | undefined {
  if (!isJsonObject(value)) return undefined;
  const { name, arguments: args, result, error, consumed_ai_tokens, duration_ms } = value;
  const isError = error !== undefined;
  if (typeof name !== 'string' || !isJsonObject(args ?? null) || (result === undefined && !isError))
    return undefined;
  return {
    name,
    arguments: args as JsonObject,
    value: (isError ? error : result) ?? null,
    isError,
    consumedAiTokens: Number(consumed_ai_tokens ?? 0),
    durationMs: Number(duration_ms),
  };
}

/** A step as turns of a conversation. `said` is the provider's original turn, if it came in this attempt. */
export function stepTurns(
  step: AgentStep,
  number: number,
  said?: { readonly toolCalls: readonly AiToolCall[]; readonly continuation?: unknown },
): readonly AiMessage[] {
  const toolCalls =
    said?.toolCalls ??
    step.toolCalls.map((call, index) => ({
      id: `call_${number}_${index + 1}`,
      name: call.name,
      arguments: call.arguments,
    }));
  return [
    {
      role: 'assistant',
      text: step.text,
      toolCalls,
      ...(said?.continuation === undefined ? {} : { continuation: said.continuation }),
    },
    ...step.toolCalls.map(
      (call, index): AiMessage => ({
        role: 'tool',
        toolCallId: toolCalls[index]?.id ?? '',
        toolName: call.name,
        result: call.value,
        isError: call.isError,
      }),
    ),
  ];
}

/** Tokens consumed by steps, including the tools called in them. */
export function tokensOfSteps(steps: readonly AgentStep[]): number {
  return steps
    .flatMap(({ usage, toolCalls }) => [usage.totalTokens, ...toolCalls.map((call) => call.consumedAiTokens)])
    .reduce((sum, tokens) => sum + tokens, 0);
}

export function sumUsage(usages: readonly AiUsage[]): AiUsage {
  return usages.reduce(
    (sum, { inputTokens, outputTokens, totalTokens }) => ({
      inputTokens: sum.inputTokens + inputTokens,
      outputTokens: sum.outputTokens + outputTokens,
      totalTokens: sum.totalTokens + totalTokens,
    }),
    { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
  );
}
