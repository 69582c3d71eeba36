import { isJsonObject, type JsonObject } from '@millrace/engine';
import { message } from '@millrace/messages';
import { disarm, escapeEntities } from './mentions.ts';
import { isOk, listOf, member, memberText, plainReason, refusedByStatus, sent } from './outcome.ts';
import type { ChatMessage, ChatService } from './service.ts';

const LABEL = 'Google Chat';
const COLOR = { info: '#1a73e8', success: '#188038', warning: '#f29900', error: '#d93025' };
/** "spaces.list". */
const SPACES = '/v1/spaces?pageSize=1000';
/** "Format messages": `<users/all>` and `<users/{user}>` mention people. */
const MENTION = /<users\//g;

/**
 * Google Chat: an incoming webhook ("Send messages to Google Chat with incoming webhooks") or spaces.messages.create with an access token.
 * Both drop duplicates by `requestId`.
 */
export const googleChat: ChatService = {
  name: 'google_chat',
  label: LABEL,
  needs: message('nodes.cred_google_chat'),
  // "Method: spaces.messages.create": text and cards together.
  maxBytes: 32_000,
  webhook: {
    hosts: ['chat.googleapis.com'],
    post(chat, url) {
      for (const [name, value] of queryOf(chat)) url.searchParams.set(name, value);
      return { body: bodyOf(chat) };
    },
  },
  api: {
    base: 'https://chat.googleapis.com',
    auth: { header: 'authorization', scheme: 'Bearer ' },
    channel: {
      what: message('nodes.channel_google_chat'),
      form: /^spaces\/[A-Za-z0-9_-]{1,100}$/,
      rule: message('nodes.wrong_google_chat_space'),
    },
    // "spaces.list": with a scope that isn't needed for sending.
    probe: { path: '/v1/spaces?pageSize=1', mayBeForbidden: true },
    channels: {
      path: SPACES,
      read(body) {
        if (!isJsonObject(body) || member(body, 'error') !== null) return null;
        const token = memberText(body, 'nextPageToken');
        return {
          channels: listOf(member(body, 'spaces')).map((space) => ({
            id: memberText(space, 'name'),
            // Chats with one person have none.
            name: memberText(space, 'displayName') || memberText(space, 'name'),
            group: null,
          })),
          more:
            token === '' ? [] : [{ path: `${SPACES}&pageToken=${encodeURIComponent(token)}`, group: null }],
        };
      },
    },
    post: (chat, space) => ({
      path: `/v1/${space}/messages?${queryOf(chat).toString()}`,
      body: bodyOf(chat),
    }),
  },
  read(answer) {
    if (isOk(answer)) return sent(member(answer.body, 'name'));
    const reason = memberText(answer.body, 'error', 'message') || plainReason(answer);
    return refusedByStatus(answer, reason);
  },
};

function queryOf({ onceKey, thread }: ChatMessage): URLSearchParams {
  const query = new URLSearchParams({ requestId: onceKey });
  if (thread !== null) query.set('messageReplyOption', 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD');
  return query;
}

function bodyOf(chat: ChatMessage): JsonObject {
  const { isPlain, title, fields, link, color, thread } = chat;
  const text = chat.allowMentions ? chat.text : disarm(chat.text, MENTION);
  // A thread is named by its resource once it exists, else by a key of our own.
  const threadId =
    thread === null ? null : thread.startsWith('spaces/') ? { name: thread } : { threadKey: thread };
  const place = threadId === null ? {} : { thread: threadId };
  if (isPlain) return { text, ...place };
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
