import {
  type AiMessage,
  type AiRequest,
  type AiUsage,
  type CredentialOf,
  type Failure,
  failure,
  isJsonArray,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  type NodeContext,
  ServiceError,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import type { CallConfig } from './config.ts';
import { callFailure } from './failure.ts';
import { limitOf } from './request.ts';

/** What a model is asked for a value that fits a schema. */
export interface ValueQuestion {
  readonly system: string;
  readonly text: string;
  readonly schema: JsonSchema;
  /** How often an answer that doesn't fit is sent back to be corrected. */
  readonly repairs: number;
}

export interface FoundValue {
  readonly kind: 'value';
  readonly value: JsonValue;
  /** Of the answer that fits. */
  readonly usage: AiUsage;
  /** Of all answers. */
  readonly consumedAiTokens: number;
  /** How many answers had to be corrected. */
  readonly repairs: number;
}

/** The request as it is sent first; test mode shows it. */
export function valueRequest(
  config: CallConfig,
  question: ValueQuestion,
  maxOutputTokens: number | null,
): AiRequest {
  return {
    model: config.model,
    system: question.system,
    messages: [{ role: 'user', text: question.text }],
    tools: [],
    outputSchema: question.schema,
    temperature: config.temperature,
    maxOutputTokens,
    timeoutMs: config.timeout_ms,
  };
}

/**
 * Asks for a value. An answer that doesn't fit is returned to the model with its faults, as often as the question allows; each answer
 * counts towards the budget.
 */
export async function askForValue(
  config: CallConfig,
  question: ValueQuestion,
  credential: CredentialOf<'ai'>,
  context: NodeContext,
): Promise<FoundValue | Failure> {
  const [opening] = valueRequest(config, question, null).messages;
  const corrections: AiMessage[] = [];
  let consumed = 0;
  for (let repairs = 0; ; repairs += 1) {
    const left = context.aiTokensLeft === null ? null : context.aiTokensLeft - consumed;
    if (left !== null && left <= 0) {
      const problem = repairs === 0 ? message('nodes.no_budget_left') : message('nodes.budget_before_repair');
      return failure('token_budget_exceeded', problem, { consumedAiTokens: consumed });
    }
    const { maxOutputTokens, isCapped } = limitOf(config, { left });
    const request = valueRequest(config, question, maxOutputTokens);
    const messages = opening === undefined ? corrections : [opening, ...corrections];
    try {
      const answer = await context.ai.generate(credential, { ...request, messages }, context.signal);
      const consumedAiTokens = consumed + answer.usage.totalTokens;
      return { kind: 'value', value: answer.object, usage: answer.usage, consumedAiTokens, repairs };
    } catch (error) {
      const isMisfit = error instanceof ServiceError && error.code === 'ai_invalid_output' && error.retryable;
      if (!isMisfit || repairs >= question.repairs) {
        const failed = callFailure(error, isCapped);
        return {
          ...failed,
          // The model was shown what is wrong and couldn't correct it: another attempt would only cost as much again.
          ...(isMisfit && question.repairs > 0 ? { retryable: false } : {}),
          consumedAiTokens: failed.consumedAiTokens + consumed,
        };
      }
      consumed += error.consumedAiTokens;
      corrections.splice(0, corrections.length, ...correctionOf(error.details ?? {}));
    }
  }
}

/** Only the last answer is sent back: what was wrong before it would cost tokens and mislead. */
function correctionOf({ text, errors }: JsonObject): readonly AiMessage[] {
  const faults = isJsonArray(errors ?? null)
    ? (errors as readonly JsonValue[]).filter((fault) => typeof fault === 'string')
    : [];
  const why = faults.length === 0 ? 'It is not JSON.' : faults.map((fault) => `- ${fault}`).join('\n');
  return [
    { role: 'assistant', text: typeof text === 'string' && text !== '' ? text : '(nothing)', toolCalls: [] },
    {
      role: 'user',
      text: `Your answer does not fit the schema:\n${why}\nAnswer again with the whole value, corrected.`,
    },
  ];
}
