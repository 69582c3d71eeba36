import type { AiMessage, AiToolCall, JsonObject, JsonValue } from '@millrace/engine';
import { validatorOf } from '@millrace/node-kit/validator';
import { type Static, Type } from 'typebox';

const callSchema = Type.Object({
  name: Type.String(),
  arguments: Type.Unsafe<JsonObject>({ type: 'object' }),
  // As returned to the model: one or the other.
  result: Type.Optional(Type.Unsafe<JsonValue>({})),
  error: Type.Optional(Type.Unsafe<JsonValue>({})),
  // By the node or workflow that was called; absent for none.
  consumed_ai_tokens: Type.Optional(Type.Number()),
  duration_ms: Type.Number(),
  // What a person decided about it; absent if nobody was asked.
  approval: Type.Optional(Type.Unsafe<JsonObject>({ type: 'object' })),
});
export const usageSchema = Type.Object({
  input_tokens: Type.Number(),
  output_tokens: Type.Number(),
  total_tokens: Type.Number(),
});
const stepSchema = Type.Object({
  text: Type.String(),
  tool_calls: Type.Array(callSchema),
  usage: usageSchema,
});

/** One response of the model with the results of its tool calls, as in the node's output. */
export type AgentStep = Static<typeof stepSchema>;

const stepValidator = validatorOf(stepSchema);

/**
 * The steps of an earlier attempt of the node, from the output it failed with: the next attempt continues from them instead of paying and
 * acting again. A step without tools was a final answer, which is requested again.
 */
export function readSteps(output: JsonObject | null): AgentStep[] {
  const steps: unknown = output?.steps;
  const read: readonly unknown[] = Array.isArray(steps) ? steps : [];
  const end = read.findIndex((step) => !stepValidator().Check(step) || !hasActed(step));
  return read.slice(0, end === -1 ? read.length : end) as AgentStep[];
}

function hasActed({ tool_calls: calls }: AgentStep): boolean {
  return calls.length > 0 && calls.every((call) => 'result' in call || 'error' in call);
}

/** A step as turns of a conversation. `said` is the provider's original turn, if it came in this attempt. */
export function stepTurns(
  step: AgentStep,
  number: number,
  said?: { readonly toolCalls: readonly AiToolCall[]; readonly continuation?: unknown },
): readonly AiMessage[] {
  const toolCalls =
    said?.toolCalls ??
    step.tool_calls.map((call, index) => ({
      id: `call_${number}_${index + 1}`,
      name: call.name,
      arguments: proposedArguments(call) ?? call.arguments,
    }));
  return [
    {
      role: 'assistant',
      text: step.text,
      toolCalls,
      ...(said?.continuation === undefined ? {} : { continuation: said.continuation }),
    },
    ...step.tool_calls.map(
      (call, index): AiMessage => ({
        role: 'tool',
        toolCallId: toolCalls[index]?.id ?? '',
        toolName: call.name,
        result: resultOf(call),
        isError: 'error' in call,
      }),
    ),
  ];
}

/** What the model had proposed, if a person changed it. */
function proposedArguments({ approval }: AgentStep['tool_calls'][number]): JsonObject | undefined {
  return approval?.proposed as JsonObject | undefined;
}

/** As the model gets it: it has to know when another call was made than the one it proposed. */
function resultOf(call: AgentStep['tool_calls'][number]): JsonValue {
  const value = call.error ?? call.result ?? null;
  if (proposedArguments(call) === undefined) return value;
  return {
    note: 'A person changed the arguments before approving the call.',
    arguments: call.arguments,
    result: value,
  };
}

/** Tokens consumed by steps, including the tools called in them. */
export function tokensOfSteps(steps: readonly AgentStep[]): number {
  return steps
    .flatMap(({ usage, tool_calls: calls }) => [
      usage.total_tokens,
      ...calls.map((call) => call.consumed_ai_tokens ?? 0),
    ])
    .reduce((sum, tokens) => sum + tokens, 0);
}

export function usageOfSteps(steps: readonly AgentStep[]): AgentStep['usage'] {
  const sum = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
  for (const { usage } of steps) {
    sum.input_tokens += usage.input_tokens;
    sum.output_tokens += usage.output_tokens;
    sum.total_tokens += usage.total_tokens;
  }
  return sum;
}
