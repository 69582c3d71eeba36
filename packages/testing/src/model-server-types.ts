import type { AiProvider, JsonObject } from '@millrace/engine';

/** What a client asked for, read from whichever of the three formats it came in. */
export interface ModelRequest {
  /** 1 for the first request of this server. */
  readonly number: number;
  readonly provider: AiProvider;
  /** With the query. */
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  /** The key from the header this provider wants it in; null when there is none. */
  readonly key: string | null;
  /** As it came. */
  readonly body: JsonObject;
  readonly model: string;
  /** '' when there is none. */
  readonly system: string;
  readonly messages: readonly ModelTurn[];
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly parameters: JsonObject;
  }[];
  /** The JSON Schema the provider itself is asked to hold the answer to. */
  readonly outputSchema: JsonObject | null;
  readonly maxTokens: number | null;
  readonly temperature: number | null;
  /** How the exchange ended, once it has. */
  readonly ended: Promise<'answered' | 'closed_by_client'>;
}

export interface ModelTurn {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text: string;
  readonly toolCalls: readonly {
    readonly id: string;
    readonly name: string;
    readonly arguments: JsonObject;
  }[];
  readonly toolResults: readonly { readonly id: string; readonly name: string; readonly text: string }[];
}

/** What the model says, and what goes wrong while it does. All of it is optional; `{}` is an empty answer. */
export interface ModelAnswer {
  /** Each piece is an event of its own. */
  readonly text?: string | readonly string[];
  /** A text as arguments is sent as it is, whatever it is. */
  readonly toolCalls?: readonly {
    readonly name: string;
    readonly arguments: JsonObject | string;
    readonly id?: string;
    /** Google: the signature the client has to send back. */
    readonly signature?: string;
  }[];
  /** Thinking that is shown: `reasoning_content` of many OpenAI-compatible servers, a thinking block, a thought part. */
  readonly reasoning?: string;
  /** Default: `tool_calls` when there are some, else `stop`. */
  readonly finish?: 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'prompt_blocked' | 'malformed_call';
  /** Default: 10 in, 5 out. `cached` is part of `input`. */
  readonly usage?: { readonly input: number; readonly output: number; readonly cached?: number };
  /** Data of events that are none of the format, one before each that is. */
  readonly strange?: readonly string[];
  /** Sent with status 200 instead of all the rest. */
  readonly raw?: { readonly type: string; readonly body: string };
  /** The connection is torn down after so many events. */
  readonly cutAfter?: number;
  /** The answer ends in an orderly way after so many events, without what ends it. */
  readonly endAfter?: number;
  /** After so many events there is one that is not JSON. */
  readonly garbageAfter?: number;
  /** After so many events the provider reports an error, and ends. */
  readonly errorAfter?: { readonly events: number; readonly error: ModelError };
  /** After so many events nothing more is sent until this is settled. */
  readonly pauseAfter?: {
    readonly events: number;
    readonly until: Promise<unknown>;
    /** Called when it has come so far. */
    readonly onReached?: () => void;
  };
  /** The last piece of text is repeated for ever. */
  readonly isEndless?: boolean;
  /** Everything is written in pieces of so many bytes, wherever that cuts. */
  readonly pieceBytes?: number;
}

/** An error answer; type and message are the provider's usual ones for the status unless given. */
export interface ModelError {
  readonly status: number;
  /** OpenAI: `code`; Anthropic: `error.type`; Google: `status`. */
  readonly type?: string;
  readonly message?: string;
  readonly headers?: { readonly [name: string]: string };
  /** Google: the `retryDelay` of a RetryInfo in the body, such as `7s`. */
  readonly retryDelay?: string;
  /** Sent instead of the provider's error body. */
  readonly body?: string;
}

/** One provider's format: how a request is read and how an answer is written. */
export interface WireFormat {
  /** Reads the body, as strictly as the real one does. @throws WireRefusal */
  read(
    body: JsonObject,
    path: string,
  ): Pick<
    ModelRequest,
    'model' | 'system' | 'messages' | 'tools' | 'outputSchema' | 'maxTokens' | 'temperature'
  >;
  key(headers: { readonly [name: string]: string }): string | null;
  /** The answer as events, complete with their line ends. */
  events(answer: ModelAnswer, request: ModelRequest): readonly string[];
  error(error: ModelError): { readonly body: JsonObject; readonly event: string };
}

/** A request the provider would not take. */
export class WireRefusal extends Error {
  readonly error: ModelError;
  constructor(error: ModelError) {
    super(error.message ?? 'refused');
    this.error = error;
  }
}

/** The request is one that the real provider answers with this error. */
export function refuse(message: string, status = 400, type?: string): never {
  throw new WireRefusal({ status, message, ...(type === undefined ? {} : { type }) });
}

export function piecesOf(text: ModelAnswer['text']): readonly string[] {
  return text === undefined ? [] : typeof text === 'string' ? [text] : text;
}

export function usageOf({ usage }: ModelAnswer): { input: number; output: number; cached: number } {
  return { input: usage?.input ?? 10, output: usage?.output ?? 5, cached: usage?.cached ?? 0 };
}

/** Arguments in the pieces they are streamed in. */
export function argumentPieces(given: JsonObject | string): readonly string[] {
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== '');
}

export function list(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? (value as JsonObject[]) : [];
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function object(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

export function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
