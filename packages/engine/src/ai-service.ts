import type { JsonObject, JsonSchema, JsonValue } from '@millrace/values/json';
import type { CredentialOf } from './credentials.ts';

/** An image or a PDF file for a model. */
export interface AiFile {
  readonly name: string;
  /** Media type, without parameters. */
  readonly type: string;
  readonly base64: string;
}

/** One turn of a conversation with a model. */
export type AiMessage =
  | {
      readonly role: 'user';
      readonly text: string;
      /** What the model sees before the text. */
      readonly files?: readonly AiFile[];
    }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly toolCalls: readonly AiToolCall[];
      /** The `continuation` of this turn's response. */
      readonly continuation?: unknown;
    }
  | {
      readonly role: 'tool';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly result: JsonValue;
      readonly isError: boolean;
    };

export interface AiToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonObject;
  /** Set when the model's arguments aren't a JSON object; `arguments` is empty then. */
  readonly problem?: string;
}

export interface AiTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonSchema;
}

export interface AiRequest {
  readonly model: string;
  readonly system: string | null;
  readonly messages: readonly AiMessage[];
  readonly tools: readonly AiTool[];
  /** The response must be JSON matching this schema; null for text. */
  readonly outputSchema: JsonSchema | null;
  readonly temperature: number | null;
  readonly maxOutputTokens: number | null;
  readonly timeoutMs: number;
  /** For the node's own use, such as a summary, so it isn't streamed to anyone. Absent: it becomes the node's output. */
  readonly isInternal?: boolean;
}

export interface AiUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
}

export interface AiAnswer {
  readonly text: string;
  /** The parsed response when an `outputSchema` was given. */
  readonly object: JsonValue;
  readonly toolCalls: readonly AiToolCall[];
  /** `stop`, `length`, `tool_calls` or `other`. */
  readonly finishReason: string;
  readonly usage: AiUsage;
  /** Returned to some providers with this turn (signed reasoning); passed on unchanged and never shown. */
  readonly continuation?: unknown;
}

export interface AiEmbedRequest {
  readonly model: string;
  readonly texts: readonly string[];
  /** Null: the model's default. */
  readonly dimensions: number | null;
  /** What the vectors are for; some models distinguish queries from documents. */
  readonly purpose: 'document' | 'query';
  readonly timeoutMs: number;
}

export interface AiEmbedding {
  /** In the order of the texts, all of one length. */
  readonly vectors: readonly (readonly number[])[];
  readonly usage: AiUsage;
}

export interface AiService {
  /**
   * Embeds texts with one request.
   * @throws ServiceError ai_*, with the tokens that were consumed
   */
  embed(credential: CredentialOf<'ai'>, request: AiEmbedRequest, signal: AbortSignal): Promise<AiEmbedding>;
  /**
   * Calls the model once; the node handles retries and tools.
   * @throws ServiceError ai_*, with the tokens that were consumed and `retryAfterMs` as reported by the provider
   */
  generate(credential: CredentialOf<'ai'>, request: AiRequest, signal: AbortSignal): Promise<AiAnswer>;
}
