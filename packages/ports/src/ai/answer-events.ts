import {
  type AiProvider,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  stringifyJson,
  textOrJson,
  tryParseJson,
} from '@millrace/engine';

/**
 * Reads one event of a stream.
 * @returns its data in a form that the client library reads; null if the event isn't part of the format
 */
export type ReadEvent = (data: string, name: string | undefined) => string | null;

/** For one response: one dropped event may cause more to be dropped. */
export function readableEvent(provider: AiProvider): ReadEvent {
  const read = READERS[provider]();
  return (data, name) => {
    if (data.trim() === '[DONE]') return data;
    const value = tryParseJson(data);
    // Invalid JSON is an error that the library reports.
    if (value === undefined) return data;
    if (!isJsonObject(value)) return null;
    const known = isFault(value, name) ? fault(value) : read(value);
    return known === null || known === value ? known && data : stringifyJson(known);
  };
}

/** Converts a response sent as one JSON document to the events that would have been streamed; null if it isn't a response. */
export function eventsOfWhole(text: string, provider: AiProvider): readonly string[] | null {
  const value = tryParseJson(text);
  if (value === undefined) return null;
  const all = isJsonArray(value) ? value : [value];
  if (!all.every(isJsonObject)) return null;
  const events = all.map((each) => (isFault(each, undefined) ? [fault(each)] : WHOLE[provider](each)));
  if (events.length === 0 || events.some((each) => each === null)) return null;
  const lines = events.flatMap((each) => each ?? []).map((each) => `data: ${stringifyJson(each)}\n\n`);
  return provider === 'openai_compatible' ? [...lines, 'data: [DONE]\n\n'] : lines;
}

/** `{"error": ...}` in each format; some servers name the event or the object `error` and send only the message. */
function isFault({ error, object, type, message }: JsonObject, name: string | undefined): boolean {
  const isNamed = name === 'error' || object === 'error' || type === 'error';
  return (error !== undefined && error !== null) || (isNamed && typeof message === 'string');
}

function fault(value: JsonObject): JsonObject {
  const { error, type } = value;
  if (typeof error === 'string') return { ...value, error: { message: error } };
  return error === undefined || error === null ? { type: type ?? 'error', error: value } : value;
}

/** The event in a form the library reads: unchanged, changed, or null if the library doesn't know it. */
type ReadObject = (event: JsonObject) => JsonObject | null;

const READERS: Record<AiProvider, () => ReadObject> = {
  openai_compatible: () => openAiChunk,
  anthropic: anthropicReader,
  google: () => (event) =>
    ['candidates', 'usageMetadata', 'promptFeedback'].some((name) => isPresent(event[name])) ? event : null,
};

function isPresent(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null;
}

function openAiChunk(event: JsonObject): JsonObject | null {
  const { choices, usage } = event;
  if (!isJsonArray(choices ?? null)) return isPresent(usage) ? { ...event, choices: [] } : null;
  const list = choices as readonly JsonValue[];
  return list.some(hasArgumentsToWrite) ? { ...event, choices: list.map(withArguments('delta')) } : event;
}

function callsOf(choice: JsonValue, member: string): readonly JsonValue[] {
  const message = isJsonObject(choice) ? (choice[member] ?? null) : null;
  const calls = isJsonObject(message) ? (message.tool_calls ?? null) : null;
  return isJsonArray(calls) ? calls : [];
}

function hasArgumentsToWrite(choice: JsonValue): boolean {
  return callsOf(choice, 'delta').some((call) => argumentsOf(call) !== null);
}

/** Arguments sent as an object instead of as its JSON text. */
function argumentsOf(call: JsonValue): JsonValue {
  const given = isJsonObject(call) && isJsonObject(call.function ?? null) ? call.function : null;
  const value = isJsonObject(given ?? null) ? ((given as JsonObject).arguments ?? null) : null;
  return typeof value === 'object' ? value : null;
}

/** @param member the property of the choice that contains the calls */
function withArguments(member: 'delta' | 'message'): (choice: JsonValue) => JsonValue {
  return (choice) => {
    const calls = callsOf(choice, member);
    if (!isJsonObject(choice) || calls.length === 0) return choice;
    const written = calls.map((call) => {
      const value = argumentsOf(call);
      if (value === null || !isJsonObject(call)) return call;
      return { ...call, function: { ...(call.function as JsonObject), arguments: stringifyJson(value) } };
    });
    return { ...choice, [member]: { ...(choice[member] as JsonObject), tool_calls: written } };
  };
}

const ANTHROPIC_EVENTS = [
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
  'ping',
];
const ANTHROPIC_BLOCKS = ['text', 'thinking', 'redacted_thinking', 'tool_use'];
const ANTHROPIC_DELTAS = ['text_delta', 'input_json_delta', 'thinking_delta', 'signature_delta'];

/** Whatever belongs to a dropped block is dropped as well. */
function anthropicReader(): ReadObject {
  const leftOut = new Set<JsonValue>();
  return (event) => {
    const { type, index = null, delta = null, content_block: block = null } = event;
    if (typeof type !== 'string' || !ANTHROPIC_EVENTS.includes(type)) return null;
    if (type === 'content_block_start' && !isOfType(block, ANTHROPIC_BLOCKS)) leftOut.add(index);
    if (!type.startsWith('content_block_')) return event;
    if (leftOut.has(index)) return null;
    if (type !== 'content_block_delta') return event;
    if (!isOfType(delta, ANTHROPIC_DELTAS)) return null;
    const json = (delta as JsonObject).partial_json;
    if (typeof json !== 'object' || json === null) return event;
    return { ...event, delta: { ...(delta as JsonObject), partial_json: stringifyJson(json) } };
  };
}

function isOfType(value: JsonValue, types: readonly string[]): boolean {
  return isJsonObject(value) && typeof value.type === 'string' && types.includes(value.type);
}

/** The events that would have been streamed for a whole response; null if it isn't one. */
const WHOLE: Record<AiProvider, (answer: JsonObject) => readonly JsonObject[] | null> = {
  openai_compatible(answer) {
    const choices = answer.choices ?? null;
    if (!isJsonArray(choices)) return null;
    const chunks = choices.map(withArguments('message')).map((choice): JsonValue => {
      if (!isJsonObject(choice)) return choice;
      const { message = null, ...rest } = choice;
      const calls = callsOf(choice, 'message').map((call, index) =>
        isJsonObject(call) ? { index, ...call } : call,
      );
      const delta = isJsonObject(message)
        ? { ...message, ...(calls.length === 0 ? {} : { tool_calls: calls }) }
        : message;
      const usual = calls.length === 0 ? 'stop' : 'tool_calls';
      return { ...rest, delta, finish_reason: choice.finish_reason ?? usual };
    });
    return [{ ...answer, choices: chunks }];
  },
  anthropic(answer) {
    const content = answer.content ?? null;
    if (!isJsonArray(content) || answer.type !== 'message') return null;
    const { stop_reason: reason = null, stop_sequence: sequence = null, usage = null, ...message } = answer;
    const counts = isJsonObject(usage) ? usage : { input_tokens: 0, output_tokens: 0 };
    const start = { ...message, content: [], stop_reason: null, stop_sequence: null, usage: counts };
    const blocks = content.filter((block) => isOfType(block, ANTHROPIC_BLOCKS)) as readonly JsonObject[];
    return [
      { type: 'message_start', message: start },
      ...blocks.flatMap(anthropicBlock),
      {
        type: 'message_delta',
        delta: { stop_reason: reason ?? 'end_turn', stop_sequence: sequence },
        usage: counts,
      },
      { type: 'message_stop' },
    ];
  },
  google: (answer) =>
    isJsonArray(answer.candidates ?? null) || isPresent(answer.promptFeedback) ? [answer] : null,
};

function anthropicBlock(block: JsonObject, index: number): readonly JsonObject[] {
  const delta = (value: JsonObject): JsonObject => ({ type: 'content_block_delta', index, delta: value });
  const framed = (start: JsonObject, ...deltas: readonly JsonObject[]): readonly JsonObject[] => [
    { type: 'content_block_start', index, content_block: start },
    ...deltas,
    { type: 'content_block_stop', index },
  ];
  switch (block.type) {
    case 'text':
      return framed({ ...block, text: '' }, delta({ type: 'text_delta', text: block.text ?? '' }));
    case 'thinking':
      return framed(
        { type: 'thinking', thinking: '' },
        delta({ type: 'thinking_delta', thinking: block.thinking ?? '' }),
        ...(typeof block.signature === 'string'
          ? [delta({ type: 'signature_delta', signature: block.signature })]
          : []),
      );
    case 'tool_use': {
      const input = block.input ?? {};
      const json = textOrJson(input);
      return framed({ ...block, input: {} }, delta({ type: 'input_json_delta', partial_json: json }));
    }
    default:
      return framed(block);
  }
}
