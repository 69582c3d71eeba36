import type { JsonObject } from '@millrace/engine';
import { message } from '@millrace/messages';
import { checkFieldCount, checkLength } from './limits.ts';
import { isOk, member, memberText, plainReason, refusedByStatus, sent } from './outcome.ts';
import type { ChatMessage, ChatService } from './service.ts';

const LABEL = 'LINE';
/** "Messaging API reference", text message, Flex Message and URI action; characters are UTF-16 code units. */
const MOST = { text: 5_000, altText: 1_500, url: 1_000, label: 40, fields: 50 };
const COLOR = { info: '#1e88e5', success: '#06c755', warning: '#f9a825', error: '#e53935' };

/**
 * LINE: "Send push message" of the Messaging API (LINE Notify has ended). X-Line-Retry-Key drops duplicates, with the response 409, which
 * means that the message was already sent ("Retrying a failed API request"). Plain text mentions nobody.
 */
export const line: ChatService = {
  name: 'line',
  label: LABEL,
  needs: message('nodes.cred_line'),
  hasThreads: false,
  api: {
    base: 'https://api.line.me',
    auth: { header: 'authorization', scheme: 'Bearer ' },
    channel: {
      what: message('nodes.channel_line'),
      form: /^[UCR][0-9a-f]{32}$/,
      rule: message('nodes.wrong_line_channel'),
    },
    // "Get bot info".
    probe: { path: '/v2/bot/info' },
    post: (chat, to) => ({
      path: '/v2/bot/message/push',
      body: { to, messages: [contentOf(chat)] },
      headers: { 'x-line-retry-key': uuidOf(chat.onceKey) },
    }),
  },
  read(answer) {
    const { status } = answer.response;
    if (isOk(answer)) return sent(firstId(answer.body));
    const reason = memberText(answer.body, 'message') || plainReason(answer);
    if (status === 409) return sent(firstId(answer.body));
    // The month's quota is used up: retrying within hours is pointless.
    if (status === 429 && /monthly limit/i.test(reason)) {
      return { kind: 'refused', code: 'chat_rate_limited', reason, retryable: false };
    }
    return refusedByStatus(answer, reason);
  },
};

function firstId(body: Parameters<typeof member>[0]): ReturnType<typeof member> {
  const list = member(body, 'sentMessages');
  return Array.isArray(list) ? member(list[0] ?? null, 'id') : null;
}

/** RFC 9562, version 8: custom digits. */
function uuidOf(digits: string): string {
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}

function contentOf({ isPlain, title, text, fields, link, color }: ChatMessage): JsonObject {
  checkLength('config.text', text, MOST.text, LABEL);
  if (isPlain) return { type: 'text', text };
  checkFieldCount(fields.length, MOST.fields, LABEL);
  if (link !== null) {
    checkLength('config.link.url', link.url, MOST.url, LABEL);
    checkLength('config.link.text', link.text, MOST.label, LABEL);
  }
  const tint = color === null ? {} : { color: COLOR[color] };
  const words = (content: string, look: JsonObject = {}): JsonObject => ({
    type: 'text',
    text: content,
    wrap: true,
    ...look,
  });
  const contents = [
    ...(title === null || title === '' ? [] : [words(title, { weight: 'bold', size: 'lg', ...tint })]),
    ...(text === '' ? [] : [words(text)]),
    ...fields.map(({ label, value }) => ({
      type: 'box',
      layout: 'baseline',
      spacing: 'sm',
      // LINE refuses an empty text.
      contents: [
        words(label || '-', { flex: 2, size: 'sm', color: '#888888' }),
        words(value || '-', { flex: 5, size: 'sm' }),
      ],
    })),
  ];
  const button = (uri: string, label: string): JsonObject => ({
    type: 'button',
    action: { type: 'uri', label, uri },
  });
  const footer =
    link === null
      ? {}
      : { footer: { type: 'box', layout: 'vertical', contents: [button(link.url, link.text)] } };
  const body =
    contents.length === 0 ? {} : { body: { type: 'box', layout: 'vertical', spacing: 'md', contents } };
  const altText = [title ?? '', text, link?.text ?? ''].find((part) => part !== '') ?? LABEL;
  return {
    type: 'flex',
    altText: altText.slice(0, MOST.altText),
    contents: { type: 'bubble', ...body, ...footer },
  };
}
