import {
  type AiMessage,
  type AiRequest,
  type AiTool,
  type AiUsage,
  type CredentialOf,
  describeUnusableSchema,
  type JsonObject,
  type JsonValue,
  stringifyJson,
} from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { noCredential } from '../credential-property.ts';
import type { ModelConfig } from './config.ts';

/** Letters, digits and what model names hold besides; it becomes part of an address at some providers. */
const MODEL_NAME = /^[A-Za-z0-9](?:[\w:@+-]|[./](?=\w))*$/;

/** What makes a config unusable, or undefined when it is fine. */
export function problemOf(config: ModelConfig): Message | undefined {
  if (config.credential_id === 0) return noCredential('credential_id', ['ai']);
  if (!MODEL_NAME.test(config.model)) {
    return message('nodes.wrong_model');
  }
  if (promptText(config.prompt).trim() === '') {
    return message('nodes.empty_prompt');
  }
  if (config.output !== 'json') return undefined;
  const fault = describeUnusableSchema(config.schema);
  return fault === null ? undefined : message('nodes.unusable_schema', { fault });
}

/** A prompt's text; what is not text is written as JSON. */
export function promptText(value: JsonValue): string {
  return typeof value === 'string' ? value : stringifyJson(value);
}

/** Tokens that may still be used. */
export interface Allowance {
  /** Null: as many as it takes. */
  readonly left: number | null;
}

/**
 * Below this, what is left of a budget is asked for as the most tokens of an answer. Above it nothing is: a number that is
 * larger than what the model can write at all is refused by most providers.
 */
const CAPPED_BELOW = 16_384;

/** How many tokens an answer may have, and whether a budget made it fewer than the author allows. */
export function limitOf(
  config: Pick<ModelConfig, 'max_tokens'>,
  { left }: Allowance,
): { readonly maxOutputTokens: number | null; readonly isCapped: boolean } {
  const own = config.max_tokens;
  if (left === null || left >= (own ?? CAPPED_BELOW)) return { maxOutputTokens: own, isCapped: false };
  return { maxOutputTokens: left, isCapped: true };
}

export function requestOf(
  config: ModelConfig,
  turns: {
    readonly system: string;
    readonly messages: readonly AiMessage[];
    readonly tools: readonly AiTool[];
    readonly maxOutputTokens: number | null;
    readonly timeoutMs: number;
  },
): AiRequest {
  return {
    ...turns,
    model: config.model,
    system: turns.system === '' ? null : turns.system,
    outputSchema: config.output === 'json' ? config.schema : null,
    temperature: config.temperature,
  };
}

/** What test mode shows instead of sending it. */
export function describeRequest(request: AiRequest, credential: CredentialOf<'ai'>): JsonObject {
  return {
    provider: credential.provider,
    base_url: credential.base_url,
    model: request.model,
    system: request.system,
    messages: request.messages.map(({ role, ...turn }) => ({
      role,
      text: 'text' in turn ? turn.text : null,
    })),
    tools: request.tools.map(({ name, description, parameters }) => ({
      name,
      description,
      parameters: parameters as JsonObject,
    })),
    output_schema: request.outputSchema as JsonObject | null,
    temperature: request.temperature,
    max_tokens: request.maxOutputTokens,
  };
}

export function presentUsage({ inputTokens, outputTokens, totalTokens }: AiUsage): JsonObject {
  return { input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: totalTokens };
}
