import {
  type AiFile,
  type AiMessage,
  type AiRequest,
  type AiTool,
  type CredentialOf,
  describeUnusableSchema,
  type JsonObject,
  type OpenFile,
  textOrJson,
} from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { noCredential } from '@millrace/node-kit/credential-property';
import type { CallConfig, ModelConfig } from './config.ts';
import { describeFiles } from './files.ts';

/** Letters, digits and other characters of model names; some providers put it into the URL. */
const MODEL_NAME = /^[A-Za-z0-9](?:[\w:@+-]|[./](?=\w))*$/;

/** Why a config is unusable, or undefined when it is fine. */
export function problemOf(config: ModelConfig): Message | undefined {
  const problem = callProblemOf(config);
  if (problem !== undefined) return problem;
  if (textOrJson(config.prompt).trim() === '') {
    return message('nodes.empty_prompt');
  }
  if (config.output !== 'json') return undefined;
  const fault = describeUnusableSchema(config.schema);
  return fault === null ? undefined : message('nodes.unusable_schema', { fault });
}

/** Why no call can be made with these settings, or undefined. */
export function callProblemOf(config: Pick<CallConfig, 'credential_id' | 'model'>): Message | undefined {
  if (config.credential_id === 0) return noCredential('credential_id', ['ai']);
  return MODEL_NAME.test(config.model) ? undefined : message('nodes.wrong_model');
}

/** Tokens that may still be used. */
export interface Allowance {
  /** Null: unlimited. */
  readonly left: number | null;
}

/**
 * Below this, the rest of a budget is sent as the maximum number of tokens of a response. Above it no maximum is sent: most providers
 * refuse one that is larger than the model can write at all.
 */
const CAPPED_BELOW = 16_384;

/** Maximum tokens of a response, and whether a budget made it lower than the author allows. */
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

/** The conversation with files in its first turn. */
export function withFiles(messages: readonly AiMessage[], files: readonly AiFile[]): readonly AiMessage[] {
  const [first, ...others] = messages;
  if (files.length === 0 || first?.role !== 'user') return messages;
  return [{ ...first, files }, ...others];
}

/** Shown in test mode instead of sending the request. */
export function describeRequest(
  request: AiRequest,
  credential: CredentialOf<'ai'>,
  files: readonly OpenFile[] = [],
): JsonObject {
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
    ...(files.length === 0 ? {} : { files: describeFiles(files) }),
    output_schema: request.outputSchema as JsonObject | null,
    temperature: request.temperature,
    max_tokens: request.maxOutputTokens,
  };
}
