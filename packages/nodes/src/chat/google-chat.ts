import type { JsonObject } from '@millrace/engine';
import { message } from '@millrace/messages';
import { checkLength } from './limits.ts';
import { disarm, escapeEntities } from './mentions.ts';
import { isOk, member, memberText, plainReason, refusedByStatus, sent } from './outcome.ts';
import {
  apiRequest,
  apiUrl,
  channelOf,
  checkedId,
  refuseChannel,
  tokenOf,
  webhookRequest,
  webhookUrl,
} from './request.ts';
import type { ChatMessage, ChatService } from './service.ts';

const LABEL = 'Google Chat';
/** "Method: spaces.messages.create": text and cards together. */
const MOST_BYTES = 32_000;
const COLOR = { info: '#1a73e8', success: '#188038', warning: '#f29900', error: '#d93025' };
/** "Format messages": `<users/all>` and `<users/{user}>` mention people. */
const MENTION = /<users\//g;

/**
 * Google Chat: an incoming webhook ("Send messages to Google Chat with incoming webhooks") or spaces.messages.create with an access token.
 * Both drop duplicates by `requestId`.
 */
export const googleChat: ChatService = {
  name: 'google_chat',
  label: LABEL,
  compose(chat, credential) {
    const body = bodyOf(chat);
    const query = queryOf(chat);
    const url = webhookUrl(credential, LABEL, ['chat.googleapis.com']);
    if (url !== null) {
      refuseChannel(chat.channel, LABEL);
      for (const [name, value] of query) url.searchParams.set(name, value);
      return limited(webhookRequest(url, body));
    }
    const token = tokenOf(credential, message('nodes.cred_google_chat'));
    const space = checkedId(
      channelOf(chat.channel, message('nodes.channel_google_chat')),
      /^spaces\/[A-Za-z0-9_-]{1,100}$/,
      message('nodes.wrong_google_chat_space'),
    );
    const address = apiUrl(
      credential,
      'https://chat.googleapis.com',
      `/v1/${space}/messages?${query.toString()}`,
    );
    return limited(apiRequest(address, body, ['authorization', `Bearer ${token}`]));
  },
  read(answer) {
    if (isOk(answer)) return sent(member(answer.body, 'name'));
    const reason = memberText(answer.body, 'error', 'message') || plainReason(answer);
    return refusedByStatus(answer, reason);
  },
};

function limited<Request extends { readonly body: string }>(request: Request): Request {
  checkLength(message('nodes.whole_message'), request.body, MOST_BYTES, LABEL, 'bytes');
  return request;
}

function queryOf({ onceKey, thread }: ChatMessage): URLSearchParams {
  const query = new URLSearchParams({ requestId: onceKey });
  if (thread !== null) query.set('messageReplyOption', 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD');
  return query;
}

function bodyOf(chat: ChatMessage): JsonObject {
  const { title, fields, link, color, thread } = chat;
  const text = chat.allowMentions ? chat.text : disarm(chat.text, MENTION);
  // A thread is named by its resource once it exists, else by a key of our own.
  const threadId =
    thread === null ? null : thread.startsWith('spaces/') ? { name: thread } : { threadKey: thread };
  const place = threadId === null ? {} : { thread: threadId };
  if (title === null && fields.length === 0 && link === null && color === null) return { text, ...place };
  const paragraph = escapeEntities(text).replaceAll('\n', '<br>');
  const coloured = color === null ? paragraph : `<font color="${COLOR[color]}">${paragraph}</font>`;
  const widgets = [
    ...(text === '' ? [] : [{ textParagraph: { text: coloured } }]),
    ...fields.map(({ label, value }) => ({
      decoratedText: { topLabel: escapeEntities(label), text: escapeEntities(value), wrapText: true },
    })),
    ...(link === null
      ? []
      : [{ buttonList: { buttons: [{ text: link.text, onClick: { openLink: { url: link.url } } }] } }]),
  ];
  const header = title === null ? {} : { header: { title: escapeEntities(title) } };
  return { cardsV2: [{ cardId: 'message', card: { ...header, sections: [{ widgets }] } }], ...place };
}
