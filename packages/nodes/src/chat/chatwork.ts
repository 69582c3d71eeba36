import { isJsonArray } from '@millrace/engine';
import { message } from '@millrace/messages';
import { checkedId } from './compose.ts';
import { checkLength } from './limits.ts';
import { disarm } from './mentions.ts';
import { isOk, listOf, member, memberText, plainReason, refusedByStatus, sent } from './outcome.ts';
import type { ChatAnswer, ChatMessage, ChatService } from './service.ts';

const LABEL = 'Chatwork';
/** "POST /rooms/{room_id}/messages": body. */
const MOST = 65_535;
const MARK = { info: '(*)', success: '(cracker)', warning: '(sweat)', error: '(devil)' };
/** "Message notation": mentions, and what would break the frame made here. */
const CALL = /\[(?:To:|toall|rp |返信|reply)/gi;
const NOTATION =
  /\[\/?(?:info|title|code|qt|qtmeta|hr|picon|piconname|download|preview|delete|task|dtext)\b/gi;

/**
 * Chatwork: "POST /rooms/{room_id}/messages" with an API token; the body is a form. A `thread` is the message to reply to, as
 * `account:message`.
 */
export const chatwork: ChatService = {
  name: 'chatwork',
  label: LABEL,
  needs: message('nodes.cred_chatwork'),
  api: {
    base: 'https://api.chatwork.com/v2',
    auth: { header: 'x-chatworktoken', scheme: '' },
    channel: {
      what: message('nodes.channel_chatwork'),
      form: /^\d{1,20}$/,
      rule: message('nodes.wrong_chatwork_room'),
    },
    probe: { path: '/me' },
    channels: {
      path: '/rooms',
      read(body) {
        // Without a room, the response is empty.
        if (body !== null && !isJsonArray(body)) return null;
        const channels = listOf(body).map((room) => ({
          ...{ id: memberText(room, 'room_id'), name: memberText(room, 'name'), group: null },
        }));
        return { channels, more: [] };
      },
    },
    post(chat, room) {
      const text = `${replyTo(chat.thread, room)}${textOf(chat)}`;
      checkLength(message('nodes.whole_message'), text, MOST, LABEL);
      return {
        path: `/rooms/${room}/messages`,
        body: new URLSearchParams({ body: text, self_unread: '0' }),
      };
    },
  },
  read(answer) {
    if (isOk(answer)) return sent(member(answer.body, 'message_id'));
    const errors = member(answer.body, 'errors');
    const reason = Array.isArray(errors) ? errors.map(String).join('; ') : plainReason(answer);
    return refusedByStatus(answer, reason, untilReset(answer));
  },
};

/** "Rate limits": 300 requests in 5 minutes; x-ratelimit-reset is the second, since 1970, of the next window. */
function untilReset({ response: { headers, status }, nowMs }: ChatAnswer): number | undefined {
  const resetS = Number(headers['x-ratelimit-reset'] ?? Number.NaN);
  return status === 429 && resetS > 0 ? Math.max(0, resetS * 1000 - nowMs) : undefined;
}

function replyTo(thread: string | null, room: string): string {
  if (thread === null) return '';
  const id = checkedId(thread, /^\d{1,20}:\d{1,25}$/, message('nodes.wrong_chatwork_thread'));
  const [account, chat] = id.split(':');
  return `[rp aid=${account} to=${room}-${chat}]\n`;
}

function textOf(chat: ChatMessage): string {
  const { isPlain, title, text, fields, link, color } = chat;
  const plain = (part: string): string => {
    const framed = disarm(part, NOTATION);
    return chat.allowMentions ? framed : disarm(framed, CALL);
  };
  if (isPlain) return plain(text);
  const mark = color === null ? '' : `${MARK[color]} `;
  const heading = title === null && color === null ? '' : `[title]${mark}${plain(title ?? '')}[/title]`;
  const parts = [
    plain(text),
    fields.map(({ label, value }) => `${plain(label)}: ${plain(value)}`).join('\n'),
    link === null ? '' : `${plain(link.text)}: ${plain(link.url)}`,
  ];
  return `[info]${heading}${parts.filter((part) => part !== '').join('\n')}[/info]`;
}
