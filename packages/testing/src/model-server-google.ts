import type { JsonObject } from '@millrace/engine';
import {
  asForced,
  list,
  type ModelAnswer,
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

/** POST /v1beta/models/{model}:streamGenerateContent?alt=sse, as documented at https://ai.google.dev/api/generate-content. */
export const google: WireFormat = {
  read(body, path) {
    const model = /^\/v1beta\/models\/([^:/]+):streamGenerateContent\?alt=sse(?:&|$)/.exec(path)?.[1];
    if (model === undefined) refuse('models/unknown is not found for API version v1beta', 404);
    const contents = list(body.contents);
    if (contents.length === 0) refuse('* GenerateContentRequest.contents: contents is not specified');
    const turns = contents.map(readTurn);
    checkToolTurns(turns);
    const config = object(body.generationConfig);
    const tools = list(body.tools).flatMap((tool) => list(tool.functionDeclarations));
    const isJson = config.responseMimeType === 'application/json';
    if (isJson && tools.length > 0 && !/gemini-[3-9]/.test(model)) {
      refuse("Function calling with a response mime type: 'application/json' is unsupported");
    }
    return {
      model,
      system: list(object(body.systemInstruction).parts)
        .map((part) => text(part.text))
        .join('\n'),
      messages: turns,
      tools: tools.map(({ name, description, parameters, parametersJsonSchema }) =>
        toolOf(name, description, parametersJsonSchema ?? parameters),
      ),
      outputSchema: isJson ? object(config.responseJsonSchema ?? config.responseSchema) : null,
      maxTokens: numberOrNull(config.maxOutputTokens),
      temperature: numberOrNull(config.temperature),
    };
  },
  key: (headers) => headers['x-goog-api-key'] ?? null,
  events(answer, request) {
    const { input, output, cached } = usageOf(answer);
    const { mode } = object(object(request.body.toolConfig).functionCallingConfig);
    const parts = partsOf(asForced(answer, request, mode === 'ANY'));
    const chunk = (members: JsonObject, written: number): string =>
      event({
        ...members,
        usageMetadata: {
          promptTokenCount: input,
          ...(written === 0 ? {} : { candidatesTokenCount: written }),
          totalTokenCount: input + written,
          ...(cached === 0 ? {} : { cachedContentTokenCount: cached }),
          promptTokensDetails: [{ modality: 'TEXT', tokenCount: input }],
        },
        modelVersion: request.model,
        responseId: `response-${request.number}`,
      });
    if (answer.finish === 'prompt_blocked') {
      return [chunk({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }, 0)];
    }
    return [
      ...parts.map((part, index) =>
        chunk(
          { candidates: [{ content: { parts: [part], role: 'model' }, index: 0 }] },
          Math.floor((output * index) / parts.length),
        ),
      ),
      // The final chunk has empty text.
      chunk(
        {
          candidates: [
            { content: { parts: [{ text: '' }], role: 'model' }, finishReason: finishOf(answer), index: 0 },
          ],
        },
        output,
      ),
    ];
  },
  error({ status, type, message, retryDelay }) {
    const [usualStatus, usualMessage] = USUAL[status] ?? ['INTERNAL', 'An internal error has occurred.'];
    const retryInfo = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: retryDelay ?? '' };
    const keyInfo = {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'API_KEY_INVALID',
      domain: 'googleapis.com',
    };
    // A wrong key is a 400 here, recognisable only by its reason.
    const isKey = status === 401;
    const details = [...(retryDelay === undefined ? [] : [retryInfo]), ...(isKey ? [keyInfo] : [])];
    const error = {
      code: isKey ? 400 : status,
      message: message ?? usualMessage,
      status: type ?? usualStatus,
      ...(details.length === 0 ? {} : { details }),
    };
    return { body: { error }, event: event({ error }) };
  },
};

const USUAL: { readonly [status: number]: readonly [status: string, message: string] } = {
  400: ['INVALID_ARGUMENT', 'Request contains an invalid argument.'],
  401: ['INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.'],
  403: ['PERMISSION_DENIED', 'Permission denied on resource project.'],
  404: [
    'NOT_FOUND',
    'models/unknown is not found for API version v1beta, or is not supported for generateContent.',
  ],
  429: ['RESOURCE_EXHAUSTED', 'You exceeded your current quota, please check your plan and billing details.'],
  500: ['INTERNAL', 'An internal error has occurred.'],
  503: ['UNAVAILABLE', 'The model is overloaded. Please try again later.'],
};

function event(value: JsonObject): string {
  return `data: ${JSON.stringify(value)}\r\n\r\n`;
}

function partsOf(answer: ModelAnswer): readonly JsonObject[] {
  return [
    ...(answer.reasoning === undefined ? [] : [{ text: answer.reasoning, thought: true }]),
    ...piecesOf(answer.text).map((piece) => ({ text: piece })),
    // Calls aren't split.
    ...(answer.toolCalls ?? []).map((call) => ({
      functionCall: {
        ...(call.id === undefined ? {} : { id: call.id }),
        name: call.name,
        args: typeof call.arguments === 'string' ? object(JSON.parse(call.arguments)) : call.arguments,
      },
      ...(call.signature === undefined ? {} : { thoughtSignature: call.signature }),
    })),
  ];
}

function finishOf({ finish }: ModelAnswer): string {
  switch (finish) {
    case 'length':
      return 'MAX_TOKENS';
    case 'content_filter':
      return 'SAFETY';
    case 'malformed_call':
      return 'MALFORMED_FUNCTION_CALL';
    default:
      return 'STOP';
  }
}

function readTurn({ role, parts }: JsonObject): ModelTurn {
  const all = list(parts);
  const results = all
    .filter(({ functionResponse }) => functionResponse !== undefined)
    .map(({ functionResponse }) => {
      const { id, name, response } = object(functionResponse);
      const said = object(response);
      const content = said.content ?? said.error ?? response;
      return {
        id: text(id),
        name: text(name),
        text: typeof content === 'string' ? content : JSON.stringify(content),
      };
    });
  return {
    role: role === 'model' ? 'assistant' : results.length > 0 ? 'tool' : 'user',
    text: all.map((part) => (part.thought === true ? '' : text(part.text))).join(''),
    toolCalls: all
      .filter(({ functionCall }) => functionCall !== undefined)
      .map(({ functionCall }) => {
        const { id, name, args } = object(functionCall);
        return { id: text(id), name: text(name), arguments: object(args) };
      }),
    ...withFiles(
      all
        .filter(({ inlineData }) => inlineData !== undefined)
        .map(({ inlineData }) => {
          const { mimeType, data } = object(inlineData);
          return { type: text(mimeType), base64: text(data), name: '' };
        }),
    ),
    toolResults: results,
  };
}

/** As many results as calls, in the turn after them. */
function checkToolTurns(turns: readonly ModelTurn[]): void {
  for (const [index, { toolCalls }] of turns.entries()) {
    if (toolCalls.length !== (turns[index + 1]?.toolResults.length ?? 0)) {
      refuse(
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      );
    }
  }
}
