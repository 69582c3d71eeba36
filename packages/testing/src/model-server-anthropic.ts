import type { JsonObject } from '@millrace/engine';
import {
  argumentPieces,
  asForced,
  contentText,
  list,
  type ModelAnswer,
  type ModelFile,
  type ModelRequest,
  type ModelTurn,
  numberOrNull,
  object,
  piecesOf,
  refuse,
  text,
  toolOf,
  usageOf,
  type WireFormat,
  withFiles,
} from './model-server-types.ts';

/** POST /v1/messages, as documented at https://docs.anthropic.com/en/api/messages-streaming. */
export const anthropic: WireFormat = {
  read(body) {
    if (!Number.isInteger(body.max_tokens)) refuse('max_tokens: Field required');
    const all = list(body.messages);
    if (all.length === 0) refuse('messages: at least one message is required');
    const turns = all.map(readTurn);
    checkToolTurns(turns);
    const format = object(object(body.output_config).format ?? body.output_format);
    return {
      model: text(body.model),
      system: contentText(body.system),
      messages: turns,
      tools: list(body.tools).map(({ name, description, input_schema }) =>
        toolOf(name, description, input_schema),
      ),
      outputSchema: format.type === 'json_schema' ? object(format.schema) : null,
      maxTokens: numberOrNull(body.max_tokens),
      temperature: numberOrNull(body.temperature),
    };
  },
  key: (headers) => headers['x-api-key'] ?? null,
  events(given, request) {
    const answer = asForced(given, request, object(request.body.tool_choice).type === 'any');
    const { input, output, cached } = usageOf(answer);
    const blocks = blocksOf(answer, request);
    return [
      event('message_start', {
        message: {
          id: `msg_${request.number}`,
          type: 'message',
          role: 'assistant',
          content: [],
          model: request.model,
          stop_reason: null,
          stop_sequence: null,
          usage: {
            input_tokens: input - cached,
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: cached,
            output_tokens: 1,
            service_tier: 'standard',
          },
        },
      }),
      ...blocks.flatMap(({ start, deltas }, index) => [
        event('content_block_start', { index, content_block: start }),
        ...(index === 0 ? [event('ping', {})] : []),
        ...deltas.map((delta) => event('content_block_delta', { index, delta })),
        event('content_block_stop', { index }),
      ]),
      event('message_delta', {
        delta: { stop_reason: stopReason(answer, request), stop_sequence: null },
        usage: { output_tokens: output },
      }),
      event('message_stop', {}),
    ];
  },
  error({ status, type, message }) {
    const [usualType, usualMessage] = USUAL[status] ?? ['api_error', 'Internal server error'];
    const error = { type: type ?? usualType, message: message ?? usualMessage };
    return {
      body: { type: 'error', error, request_id: 'req_test' },
      event: event('error', { error }),
    };
  },
};

const USUAL: { readonly [status: number]: readonly [type: string, message: string] } = {
  400: ['invalid_request_error', 'Invalid request'],
  401: ['authentication_error', 'invalid x-api-key'],
  403: ['permission_error', 'Your API key does not have permission to use the specified resource.'],
  404: ['not_found_error', 'model: not found'],
  413: ['request_too_large', 'Request exceeds the maximum size'],
  429: ['rate_limit_error', "This request would exceed your organization's rate limit."],
  500: ['api_error', 'Internal server error'],
  529: ['overloaded_error', 'Overloaded'],
};

function event(type: string, members: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}

interface Block {
  readonly start: JsonObject;
  readonly deltas: readonly JsonObject[];
}

function blocksOf(answer: ModelAnswer, request: ModelRequest): readonly Block[] {
  const thinking: Block[] =
    answer.reasoning === undefined
      ? []
      : [
          {
            start: { type: 'thinking', thinking: '', signature: '' },
            deltas: [
              { type: 'thinking_delta', thinking: answer.reasoning },
              { type: 'signature_delta', signature: `signature-${request.number}` },
            ],
          },
        ];
  const pieces = piecesOf(answer.text);
  const calls = (answer.toolCalls ?? []).map((call, index) =>
    toolUse(call, call.id ?? `toolu_${request.number}_${index}`),
  );
  if (pieces.length === 0) return [...thinking, ...calls];
  const said: Block = {
    start: { type: 'text', text: '' },
    deltas: pieces.map((piece) => ({ type: 'text_delta', text: piece })),
  };
  return [...thinking, said, ...calls];
}

function toolUse(
  call: { readonly name: string; readonly arguments: JsonObject | string },
  id: string,
): Block {
  return {
    start: { type: 'tool_use', id, name: call.name, input: {} },
    deltas: ['', ...argumentPieces(call.arguments)].map((piece) => ({
      type: 'input_json_delta',
      partial_json: piece,
    })),
  };
}

function stopReason(answer: ModelAnswer, request: ModelRequest): string {
  switch (answer.finish) {
    case 'length':
      return 'max_tokens';
    case 'content_filter':
    case 'prompt_blocked':
    case 'malformed_call':
      return 'refusal';
    case 'stop':
      return 'end_turn';
    default:
      return blocksOf(answer, request).some(({ start }) => start.type === 'tool_use')
        ? 'tool_use'
        : 'end_turn';
  }
}

function readTurn({ role, content }: JsonObject): ModelTurn {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : list(content);
  const results = parts
    .filter(({ type }) => type === 'tool_result')
    .map((part) => ({ id: text(part.tool_use_id), name: '', text: contentText(part.content) }));
  if (parts.some((part) => part.type === 'text' && part.text === '')) {
    refuse('messages: text content blocks must be non-empty');
  }
  return {
    role: role === 'assistant' ? 'assistant' : results.length > 0 ? 'tool' : 'user',
    text: parts
      .filter(({ type }) => type === 'text')
      .map((part) => text(part.text))
      .join(''),
    toolCalls: parts
      .filter(({ type }) => type === 'tool_use')
      .map((part) => ({ id: text(part.id), name: text(part.name), arguments: object(part.input) })),
    ...withFiles(parts.flatMap(fileOf)),
    toolResults: results,
  };
}

function fileOf({ type, source, title }: JsonObject): readonly ModelFile[] {
  if (type !== 'image' && type !== 'document') return [];
  const { type: kind, media_type: mediaType, data } = object(source);
  if (kind !== 'base64') refuse('source.type must be base64 here');
  return [{ type: text(mediaType), base64: text(data), name: text(title) }];
}

/** All results of a turn's calls are in the single message after it. */
function checkToolTurns(turns: readonly ModelTurn[]): void {
  for (const [index, { toolCalls }] of turns.entries()) {
    const results = turns[index + 1]?.toolResults.map(({ id }) => id) ?? [];
    const missing = toolCalls.filter(({ id }) => !results.includes(id)).map(({ id }) => id);
    if (missing.length > 0) {
      refuse(
        `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}.`,
      );
    }
  }
}
