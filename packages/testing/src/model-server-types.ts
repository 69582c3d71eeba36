import type { AiProvider, JsonObject } from '@millrace/engine';

/** A client's request, parsed from any of the three formats. */
export interface ModelRequest {
  /** 1 for this server's first request. */
  readonly number: number;
  readonly provider: AiProvider;
  /** Including the query. */
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  /** The key from this provider's header; null if there is none. */
  readonly key: string | null;
  /** Unmodified. */
  readonly body: JsonObject;
  readonly model: string;
  /** '' if there is none. */
  readonly system: string;
  readonly messages: readonly ModelTurn[];
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly parameters: JsonObject;
  }[];
  /** The JSON Schema that the provider is asked to enforce on its output. */
  readonly outputSchema: JsonObject | null;
  readonly maxTokens: number | null;
  readonly temperature: number | null;
  /** How the exchange ended, once it has. */
  readonly ended: Promise<'answered' | 'closed_by_client'>;
}

export interface ModelFile {
  readonly type: string;
  readonly base64: string;
  /** '' where the format has none. */
  readonly name: string;
}

export interface ModelTurn {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text: string;
  readonly toolCalls: readonly {
    readonly id: string;
    readonly name: string;
    readonly arguments: JsonObject;
  }[];
  /** Images and documents; absent: none. */
  readonly files?: readonly ModelFile[];
  readonly toolResults: readonly { readonly id: string; readonly name: string; readonly text: string }[];
}

/** The model's output and the faults in it. Everything is optional; `{}` is empty output. */
export interface ModelAnswer {
  /** Each piece is a separate event. */
  readonly text?: string | readonly string[];
  /** Arguments given as a string are sent verbatim, valid or not. */
  readonly toolCalls?: readonly {
    readonly name: string;
    readonly arguments: JsonObject | string;
    readonly id?: string;
    /** Google: the signature the client has to send back. */
    readonly signature?: string;
  }[];
  /** Visible reasoning: `reasoning_content` of many OpenAI-compatible servers, a thinking block, a thought part. */
  readonly reasoning?: string;
  /** Default: `tool_calls` if there are any, else `stop`. */
  readonly finish?: 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'prompt_blocked' | 'malformed_call';
  /** Default: 10 in, 5 out. `cached` is part of `input`. */
  readonly usage?: { readonly input: number; readonly output: number; readonly cached?: number };
  /** Data of events foreign to the format, one before each regular one. */
  readonly strange?: readonly string[];
  /** Sent with status 200 instead of everything else. */
  readonly raw?: { readonly type: string; readonly body: string };
  /** Cuts the connection after this many events. */
  readonly cutAfter?: number;
  /** Ends the response cleanly after this many events, without the final ones. */
  readonly endAfter?: number;
  /** Sends an event that isn't JSON after this many events. */
  readonly garbageAfter?: number;
  /** After this many events the provider reports an error and ends. */
  readonly errorAfter?: { readonly events: number; readonly error: ModelError };
  /** After this many events nothing more is sent until this is settled. */
  readonly pauseAfter?: {
    readonly events: number;
    readonly until: Promise<unknown>;
    /** Called when that point is reached. */
    readonly onReached?: () => void;
  };
  /** Repeats the last piece of text forever. */
  readonly isEndless?: boolean;
  /** Writes everything in pieces of this many bytes, wherever that splits it. */
  readonly pieceBytes?: number;
}

/** An error response; type and message default to the provider's usual ones for the status. */
export interface ModelError {
  readonly status: number;
  /** OpenAI: `code`; Anthropic: `error.type`; Google: `status`. */
  readonly type?: string;
  readonly message?: string;
  readonly headers?: { readonly [name: string]: string };
  /** Google: the `retryDelay` of a RetryInfo in the body, for example `7s`. */
  readonly retryDelay?: string;
  /** Sent instead of the provider's error body. */
  readonly body?: string;
}

/** One provider's format: parses requests and writes responses. */
export interface WireFormat {
  /** Parses the body, as strictly as the real provider. @throws WireRefusal */
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

/** A request the provider would refuse. */
export class WireRefusal extends Error {
  readonly error: ModelError;
  constructor(error: ModelError) {
    super(error.message ?? 'refused');
    this.error = error;
  }
}

/** Refuses a request that gets this error from the real provider. */
export function refuse(message: string, status = 400, type?: string): never {
  throw new WireRefusal({ status, message, ...(type === undefined ? {} : { type }) });
}

export function piecesOf(text: ModelAnswer['text']): readonly string[] {
  return text === undefined ? [] : typeof text === 'string' ? [text] : text;
}

export function usageOf({ usage }: ModelAnswer): { input: number; output: number; cached: number } {
  return { input: usage?.input ?? 10, output: usage?.output ?? 5, cached: usage?.cached ?? 0 };
}

/** A model forced to call a tool gives its answer in the arguments of the one for output, without text. */
export function asForced(answer: ModelAnswer, { tools }: ModelRequest, mustCall: boolean): ModelAnswer {
  const { text: said, toolCalls = [], ...rest } = answer;
  const isForced = mustCall && said !== undefined && toolCalls.length === 0;
  if (!isForced || !tools.some(({ name }) => name === 'json')) return answer;
  return { ...rest, toolCalls: [{ name: 'json', arguments: piecesOf(said).join('') }] };
}

export function toolOf(
  name: unknown,
  description: unknown,
  parameters: unknown,
): ModelRequest['tools'][number] {
  return { name: text(name), description: text(description), parameters: object(parameters) };
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

/** A data URL. */
export function fileOfUrl(url: unknown, name: unknown): ModelFile {
  const [, type = '', base64 = ''] = /^data:([^;,]+);base64,(.+)$/.exec(text(url)) ?? [];
  if (base64 === '') refuse('Invalid image or file URL');
  return { type, base64, name: text(name) };
}

/** Only where there are some. */
export function withFiles(files: readonly ModelFile[]): { readonly files?: readonly ModelFile[] } {
  return files.length === 0 ? {} : { files };
}

/** Text given as a string or in parts. */
export function contentText(content: unknown): string {
  return typeof content === 'string'
    ? content
    : list(content)
        .map((part) => text(part.text))
        .join('');
}

export function object(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

export function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
