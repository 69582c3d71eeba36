import { type AiMessage, type AiToolCall, stringifyJson, textOrJson } from '@millrace/engine';
import type { AssistantContent, ModelMessage, UserContent } from 'ai';

type AssistantPart = Exclude<AssistantContent, string>[number];

/** The conversation in the client library's format. */
export function toModelMessages(messages: readonly AiMessage[]): ModelMessage[] {
  return messages.reduce<ModelMessage[]>((turns, message) => {
    const before = turns.at(-1);
    if (message.role === 'tool') {
      // The results of one turn belong in one message: Anthropic and Google reject them separately.
      const part = toToolResult(message);
      if (before?.role === 'tool') before.content.push(part);
      else turns.push({ role: 'tool', content: [part] });
    } else if (message.role === 'user') {
      turns.push({ role: 'user', content: toUserContent(message) });
    } else {
      turns.push({ role: 'assistant', content: toAssistantParts(message) });
    }
    return turns;
  }, []);
}

function toUserContent({ text, files = [] }: Extract<AiMessage, { role: 'user' }>): UserContent {
  if (files.length === 0) return text;
  return [
    ...files.map(({ name, type, base64 }) => ({
      type: 'file' as const,
      // Tagged: of a bare text, the library tries whether it is an address.
      data: { type: 'data' as const, data: base64 },
      mediaType: type,
      // Anthropic reads titles of documents, and has none for images.
      ...(type === 'application/pdf' ? { filename: name } : {}),
    })),
    { type: 'text', text },
  ];
}

function toToolResult(message: Extract<AiMessage, { role: 'tool' }>): {
  type: 'tool-result';
  toolCallId: string;
  toolName: string;
  output: { type: 'text' | 'error-text'; value: string };
} {
  const { result } = message;
  return {
    type: 'tool-result',
    toolCallId: message.toolCallId,
    toolName: message.toolName,
    // As text: the library would copy the value and lose numbers that are kept as text.
    output: {
      type: message.isError ? 'error-text' : 'text',
      value: textOrJson(result),
    },
  };
}

function toAssistantParts(message: Extract<AiMessage, { role: 'assistant' }>): AssistantPart[] {
  if (isContinuation(message.continuation)) return [...message.continuation.parts];
  return [
    ...(message.text === '' ? [] : [{ type: 'text' as const, text: message.text }]),
    ...message.toolCalls.map((call) => ({
      type: 'tool-call' as const,
      toolCallId: call.id,
      toolName: call.name,
      input: plain(call),
    })),
  ];
}

/** A turn as the provider sent it, with metadata it expects back, such as reasoning signatures. */
export interface Continuation {
  readonly parts: readonly AssistantPart[];
}

function isContinuation(value: unknown): value is Continuation {
  return typeof value === 'object' && value !== null && 'parts' in value && Array.isArray(value.parts);
}

function plain(call: AiToolCall): unknown {
  return JSON.parse(stringifyJson(call.arguments));
}
