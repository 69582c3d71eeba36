import type { GuardedFetch } from '@millrace/egress/guarded-fetch';
import {
  type AiAnswer,
  type AiRequest,
  type AiToolCall,
  type CredentialOf,
  isJsonObject,
  type JsonValue,
  stringifyJson,
  tryParseJson,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import type { AssistantContent, JSONSchema7, ToolSet } from 'ai';
import type { Dialect } from './dialects.ts';
import { AnswerProblem, withWords } from './errors.ts';
import { markFiles } from './file-marks.ts';
import { type Continuation, toModelMessages } from './messages.ts';
import { createModel } from './models.ts';
import { schemaInstruction, toWireSchema } from './output.ts';
import type { UsageMeter } from './usage.ts';

/** One request to a model, in one dialect. */
export interface Question {
  readonly credential: CredentialOf<'ai'>;
  readonly request: AiRequest;
  readonly dialect: Dialect;
  readonly outbound: Pick<GuardedFetch, 'fetch'>;
  readonly maxAnswerBytes: number;
  readonly meter: UsageMeter;
  readonly signal: AbortSignal;
  /** Gets the text while it is written; null for nobody. */
  readonly live: { add(text: string): void } | null;
}

type Library = typeof import('ai');
type AssistantPart = Exclude<AssistantContent, string>[number];
type Stream = Awaited<ReturnType<Library['experimental_streamLanguageModelCall']>>['stream'];
type Part = Stream extends AsyncIterable<infer Each> ? Each : never;
type ToolCallPart = Extract<Part, { type: 'tool-call' }>;

/** Sends the request once and reads the whole response. Always streamed: a long response keeps its connection active. */
export async function askModel(question: Question): Promise<AiAnswer> {
  const { credential, request, dialect, signal } = question;
  const library = await import('ai');
  const { messages, insert } = markFiles(request.messages);
  const model = await createModel(credential, request.model, dialect, { ...question, insert });
  const output = outputSettings(library, request, dialect);
  const instructions = [request.system, output.instruction].filter((text) => text !== null && text !== '');
  // The library's model call without its loop: one request, no retry, and no copy of what was streamed.
  const { stream } = await library.experimental_streamLanguageModelCall({
    model,
    messages: toModelMessages(messages),
    ...(instructions.length === 0 ? {} : { instructions: instructions.join('\n\n') }),
    ...(request.tools.length === 0 ? {} : { tools: toToolSet(library, request) }),
    ...(request.temperature === null ? {} : { temperature: request.temperature }),
    ...(request.maxOutputTokens === null ? {} : { maxOutputTokens: request.maxOutputTokens }),
    ...(output.settings === undefined ? {} : { output: output.settings }),
    ...(output.isStrict ? {} : { providerOptions: { openaiCompatible: { strictJsonSchema: false } } }),
    includeRawChunks: true,
    abortSignal: signal,
  });
  return readStream(stream, question.meter, question.live);
}

/** How the response is constrained to the schema in this dialect. */
function outputSettings(
  library: Library,
  { outputSchema }: AiRequest,
  dialect: Dialect,
): {
  readonly settings: ReturnType<Library['Output']['object' | 'json']> | undefined;
  readonly instruction: string | null;
  readonly isStrict: boolean;
} {
  if (outputSchema === null) return { settings: undefined, instruction: null, isStrict: true };
  const { schema, isStrict } = toWireSchema(outputSchema);
  switch (dialect.output) {
    case 'schema': {
      const settings = library.Output.object({ schema: library.jsonSchema(schema as JSONSchema7) });
      return { settings, instruction: null, isStrict };
    }
    case 'object':
      return { settings: library.Output.json(), instruction: schemaInstruction(schema), isStrict: true };
    case 'prompt':
      return { settings: undefined, instruction: schemaInstruction(outputSchema), isStrict: true };
  }
}

function toToolSet(library: Library, request: AiRequest): ToolSet {
  const tools = request.tools.map(({ name, description, parameters }) => {
    const schema = JSON.parse(stringifyJson(parameters as JsonValue)) as JSONSchema7;
    return [name, library.tool({ description, inputSchema: library.jsonSchema(schema) })];
  });
  return Object.fromEntries(tools) as ToolSet;
}

async function readStream(stream: Stream, meter: UsageMeter, live: Question['live']): Promise<AiAnswer> {
  const texts: string[] = [];
  const toolCalls: AiToolCall[] = [];
  const written = new Map<string, string>();
  const turn = createTurn();
  let finish: Extract<Part, { type: 'model-call-end' }> | undefined;
  for await (const part of stream) {
    turn.add(part);
    if (part.type === 'raw') meter.observe(part.rawValue);
    else if (part.type === 'text-delta') {
      texts.push(part.text);
      live?.add(part.text);
    } else if (part.type === 'tool-input-delta')
      written.set(part.id, (written.get(part.id) ?? '') + part.delta);
    else if (part.type === 'tool-call') toolCalls.push(toToolCall(part, written.get(part.toolCallId)));
    else if (part.type === 'model-call-end') finish = part;
    else if (part.type === 'error') throw part.error;
  }
  const text = texts.join('');
  return {
    text,
    object: null,
    toolCalls,
    finishReason: readFinish(finish, text),
    usage: meter.total(),
    ...(toolCalls.length === 0 ? {} : { continuation: turn.continuation() }),
  };
}

/**
 * Why the response ended. A connection closed cleanly midway looks like an end; only the provider's finish reason counts as
 * one.
 * @throws AnswerProblem
 */
function readFinish(finish: Extract<Part, { type: 'model-call-end' }> | undefined, text: string): string {
  if (finish === undefined || finish.rawFinishReason === undefined || finish.finishReason === 'interrupted') {
    throw new AnswerProblem('ai_stream_cut', message('ports.answer_cut'), true);
  }
  switch (finish.finishReason) {
    case 'content-filter':
      throw new AnswerProblem(
        'ai_refused',
        withWords(message('ports.model_refused', { reason: finish.rawFinishReason }), text),
        false,
      );
    case 'error':
      throw new AnswerProblem(
        'ai_invalid_output',
        message('ports.model_failed', { reason: finish.rawFinishReason }),
        true,
      );
    case 'tool-calls':
      return 'tool_calls';
    default:
      return finish.finishReason;
  }
}

/** @param written the arguments as the model wrote them: the library's parser loses numbers that don't fit in a double */
function toToolCall({ toolCallId: id, toolName: name, input }: ToolCallPart, written?: string): AiToolCall {
  // The library passes on as text whatever it couldn't parse.
  const text = written ?? (typeof input === 'string' ? input : JSON.stringify(input ?? {}));
  const value = text.trim() === '' ? {} : tryParseJson(text);
  return value !== undefined && isJsonObject(value)
    ? { id, name, arguments: value }
    : { id, name, arguments: {}, problem: 'the arguments are not a JSON object' };
}

/** Collects the turn as the provider sent it. */
function createTurn(): { add(part: Part): void; continuation(): Continuation } {
  const parts: AssistantPart[] = [];
  const open = new Map<string, { text: string; providerOptions?: object }>();
  const start = (type: 'text' | 'reasoning', id: string): { text: string; providerOptions?: object } => {
    const part = { type, text: '' };
    parts.push(part);
    open.set(`${type} ${id}`, part);
    return part;
  };
  return {
    add(part) {
      switch (part.type) {
        case 'text-start':
        case 'text-delta':
        case 'text-end':
        case 'reasoning-start':
        case 'reasoning-delta':
        case 'reasoning-end': {
          const type = part.type.startsWith('text') ? 'text' : 'reasoning';
          const target = open.get(`${type} ${part.id}`) ?? start(type, part.id);
          if ('text' in part) target.text += part.text;
          if (part.providerMetadata !== undefined) target.providerOptions = part.providerMetadata;
          break;
        }
        case 'tool-call': {
          const { toolCallId, toolName, providerMetadata } = part;
          const input = JSON.parse(stringifyJson(toToolCall(part).arguments));
          const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
          parts.push({ type: 'tool-call', toolCallId, toolName, input, ...options });
          break;
        }
        default:
      }
    },
    continuation: () => ({
      // Anthropic rejects an empty text block.
      parts: parts.filter(
        (part) => part.type !== 'text' || part.text !== '' || part.providerOptions !== undefined,
      ),
    }),
  };
}
