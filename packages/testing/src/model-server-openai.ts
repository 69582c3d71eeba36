import type { JsonObject, JsonValue } from '@millrace/engine';
import {
  argumentPieces,
  contentText,
  fileOfUrl,
  list,
  type ModelAnswer,
  type ModelFile,
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

/** POST /v1/chat/completions, as documented at https://platform.openai.com/docs/api-reference/chat-streaming. */
export const openAi: WireFormat = {
  read(body) {
    if (!Array.isArray(body.messages)) refuse("Missing required parameter: 'messages'.");
    if (text(body.model) === '') refuse('you must provide a model parameter');
    if (body.max_tokens !== undefined && body.max_completion_tokens !== undefined) {
      refuse("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.");
    }
    const all = list(body.messages);
    checkToolTurns(all);
    const format = object(body.response_format);
    if (format.type === 'json_object' && !/json/i.test(JSON.stringify(body.messages))) {
      refuse(
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
      );
    }
    const wanted = object(format.json_schema);
    const schema = format.type === 'json_schema' ? object(wanted.schema) : null;
    if (schema !== null && wanted.strict === true) checkStrict(schema, []);
    if (schema !== null && schema.type !== 'object') {
      refuse(
        `Invalid schema for response_format '${text(wanted.name)}': schema must be a JSON Schema of 'type: "object"'.`,
      );
    }
    return {
      model: text(body.model),
      system: all
        .filter(({ role }) => role === 'system' || role === 'developer')
        .map(({ content }) => text(content))
        .join('\n'),
      messages: all.filter(({ role }) => role !== 'system' && role !== 'developer').map(readTurn),
      tools: list(body.tools).map((tool) => {
        const { name, description, parameters } = object(tool.function);
        return toolOf(name, description, parameters);
      }),
      outputSchema: schema,
      maxTokens: numberOrNull(body.max_completion_tokens ?? body.max_tokens),
      temperature: numberOrNull(body.temperature),
    };
  },
  key: (headers) => /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? null,
  events(answer, request) {
    const chunk = (delta: JsonValue, finish: string | null = null, usage: JsonValue = null): string =>
      event({
        id: `chatcmpl-${request.number}`,
        object: 'chat.completion.chunk',
        created: 1_780_000_000,
        model: request.model,
        service_tier: 'default',
        system_fingerprint: 'fp_test',
        choices: delta === null ? [] : [{ index: 0, delta, logprobs: null, finish_reason: finish }],
        usage,
      });
    const calls = answer.toolCalls ?? [];
    const includesUsage = object(request.body.stream_options).include_usage === true;
    return [
      chunk({ role: 'assistant', content: calls.length > 0 ? null : '', refusal: null }),
      ...(answer.reasoning === undefined ? [] : [chunk({ reasoning_content: answer.reasoning })]),
      ...piecesOf(answer.text).map((content) => chunk({ content })),
      ...calls.flatMap((call, index) => [
        chunk({
          tool_calls: [
            {
              index,
              id: call.id ?? `call_${request.number}_${index}`,
              type: 'function',
              function: { name: call.name, arguments: '' },
            },
          ],
        }),
        ...argumentPieces(call.arguments).map((piece) =>
          chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
        ),
      ]),
      chunk({}, finishOf(answer)),
      ...(includesUsage ? [chunk(null, null, usageMember(answer))] : []),
      'data: [DONE]\n\n',
    ];
  },
  error({ status, type, message }) {
    const [usualType, usualCode, usualMessage] = USUAL[status] ?? [
      'server_error',
      null,
      'The server had an error.',
    ];
    const error = { message: message ?? usualMessage, type: usualType, param: null, code: type ?? usualCode };
    return { body: { error }, event: event({ error }) };
  },
};

const USUAL: { readonly [status: number]: readonly [type: string, code: string | null, message: string] } = {
  400: ['invalid_request_error', null, 'Invalid request.'],
  401: ['invalid_request_error', 'invalid_api_key', 'Incorrect API key provided: test****key.'],
  403: [
    'invalid_request_error',
    'unsupported_country_region_territory',
    'Country, region, or territory not supported',
  ],
  404: [
    'invalid_request_error',
    'model_not_found',
    'The model does not exist or you do not have access to it.',
  ],
  429: ['requests', 'rate_limit_exceeded', 'Rate limit reached for requests.'],
  500: ['server_error', null, 'The server had an error while processing your request. Sorry about that!'],
  503: ['service_unavailable_error', null, 'The engine is currently overloaded, please try again later.'],
};

function event(value: JsonObject): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function finishOf({ finish, toolCalls = [] }: ModelAnswer): string {
  if (finish === undefined) return toolCalls.length > 0 ? 'tool_calls' : 'stop';
  return finish === 'prompt_blocked' || finish === 'malformed_call' ? 'content_filter' : finish;
}

function usageMember(answer: ModelAnswer): JsonObject {
  const { input, output, cached } = usageOf(answer);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function readTurn(message: JsonObject): ModelTurn {
  const calls = list(message.tool_calls).map((call) => {
    const { name, arguments: written } = object(call.function);
    return { id: text(call.id), name: text(name), arguments: object(JSON.parse(text(written))) };
  });
  const isResult = message.role === 'tool';
  return {
    role: isResult ? 'tool' : message.role === 'assistant' ? 'assistant' : 'user',
    text: isResult ? '' : contentText(message.content),
    ...withFiles(list(message.content).flatMap(fileOf)),
    toolCalls: calls,
    toolResults: isResult
      ? [{ id: text(message.tool_call_id), name: '', text: contentText(message.content) }]
      : [],
  };
}

function fileOf({ type, image_url: image, file }: JsonObject): readonly ModelFile[] {
  if (type === 'image_url') return [fileOfUrl(object(image).url, '')];
  return type === 'file' ? [fileOfUrl(object(file).file_data, object(file).filename)] : [];
}

/** A tool message must follow for each call immediately. */
function checkToolTurns(messages: readonly JsonObject[]): void {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      const id = text(message.tool_call_id);
      if (!open.includes(id)) {
        refuse("messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.");
      }
      open = open.filter((each) => each !== id);
      continue;
    }
    if (open.length > 0) {
      refuse(
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(', ')}`,
      );
    }
    open = list(message.tool_calls).map(({ id }) => text(id));
  }
  if (open.length > 0) refuse(`tool_call_ids did not have response messages: ${open.join(', ')}`);
}

/** Refused by strict mode: open objects and optional members. */
function checkStrict(schema: JsonObject, path: readonly string[]): void {
  const properties = object(schema.properties);
  if (schema.type === 'object') {
    const where = `Invalid schema for response_format 'response': In context=(${path.join(', ')}),`;
    if (schema.additionalProperties !== false) {
      refuse(`${where} 'additionalProperties' is required to be supplied and to be false.`);
    }
    const required = Array.isArray(schema.required) ? schema.required : [];
    const missing = Object.keys(properties).find((name) => !required.includes(name));
    if (missing !== undefined) {
      refuse(
        `${where} 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`,
      );
    }
  }
  for (const [name, part] of Object.entries(properties))
    checkStrict(object(part), [...path, 'properties', name]);
  if (schema.items !== undefined) checkStrict(object(schema.items), [...path, 'items']);
}
