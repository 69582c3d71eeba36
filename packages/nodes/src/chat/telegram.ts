import type { JsonObject } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { NodeProblem } from '@millrace/node-kit/node-problem';
import { checkLength } from './limits.ts';
import { disarmAtSigns, escapeAttribute, escapeEntities } from './mentions.ts';
import { isOk, member, memberText, plainReason, refusedByStatus, secondsMember, sent } from './outcome.ts';
import type { ChatMessage, ChatService } from './service.ts';

const LABEL = 'Telegram';
/** "sendMessage": characters after entities are parsed. */
const MOST = 4_096;
const MARK = { info: '🔵', success: '🟢', warning: '🟡', error: '🔴' };

/**
 * Telegram: "sendMessage" of the Bot API, with HTML style. The token is part of the URL, so the URL is never shown. A thread is a forum
 * topic (`topic:12`) or a message to reply to (its id).
 */
export const telegram: ChatService = {
  name: 'telegram',
  label: LABEL,
  needs: message('nodes.cred_telegram'),
  api: {
    base: 'https://api.telegram.org',
    auth: { path: '/bot', form: /^\d+:[A-Za-z0-9_-]+$/, rule: message('nodes.not_telegram_token') },
    channel: {
      what: message('nodes.channel_telegram'),
      form: /^(-?\d{1,20}|@[A-Za-z][A-Za-z0-9_]{3,31})$/,
      rule: message('nodes.wrong_telegram_channel'),
    },
    probe: { path: '/getMe' },
    post: (chat, chatId) => ({
      path: '/sendMessage',
      body: {
        chat_id: chatId,
        text: textOf(chat),
        parse_mode: 'HTML',
        link_preview_options: { is_disabled: true },
        ...threadOf(chat.thread),
      },
    }),
  },
  read(answer) {
    const isGood = isOk(answer) && member(answer.body, 'ok') === true;
    if (isGood) return sent(member(answer.body, 'result', 'message_id'));
    const reason = memberText(answer.body, 'description') || plainReason(answer);
    const status =
      Number(memberText(answer.body, 'error_code')) || (isOk(answer) ? 502 : answer.response.status);
    const response = { ...answer.response, status };
    // An unknown token is a 404, because it is in the path.
    if (status === 404) return { kind: 'refused', code: 'chat_auth_failed', reason, retryable: false };
    return refusedByStatus(
      { ...answer, response },
      reason,
      secondsMember(answer.body, 'parameters', 'retry_after'),
    );
  },
};

function threadOf(thread: string | null): JsonObject {
  if (thread === null) return {};
  const [, topic, id = ''] =
    /^(topic:)?(\d{1,15})$/.exec(thread) ?? fail(message('nodes.wrong_telegram_thread'));
  return topic === undefined
    ? { reply_parameters: { message_id: Number(id), allow_sending_without_reply: true } }
    : { message_thread_id: Number(id) };
}

function fail(problem: Message): never {
  throw new NodeProblem(problem);
}

function textOf(chat: ChatMessage): string {
  const { title, text, fields, link, color } = chat;
  const plain = (part: string): string => (chat.allowMentions ? part : disarmAtSigns(part));
  const mark = color === null ? '' : `${MARK[color]} `;
  const lines = fields.map(({ label, value }) => [plain(label), plain(value)] as const);
  const shown = [
    `${mark}${title === null ? '' : plain(title)}`.trim(),
    plain(text),
    lines.map((pair) => pair.join(': ')).join('\n'),
    link?.text ?? '',
  ];
  checkLength(message('nodes.whole_message'), shown.filter((part) => part !== '').join('\n\n'), MOST, LABEL);
  const styled = [
    `${mark}${title === null ? '' : `<b>${escapeEntities(plain(title))}</b>`}`.trim(),
    escapeEntities(plain(text)),
    lines.map(([label, value]) => `<b>${escapeEntities(label)}</b>: ${escapeEntities(value)}`).join('\n'),
    link === null ? '' : `<a href="${escapeAttribute(link.url)}">${escapeEntities(link.text)}</a>`,
  ];
  return styled.filter((part) => part !== '').join('\n\n');
}
