import { isJsonArray, type JsonObject } from '@millrace/engine';
import { message } from '@millrace/messages';
import { NodeProblem } from '@millrace/node-kit/node-problem';
import { checkLength } from './limits.ts';
import { disarmAtSigns } from './mentions.ts';
import { isOk, member, memberText, plainReason, refusedByStatus, secondsMember, sent } from './outcome.ts';
import type { ChatAnswer, ChatMessage, ChatService } from './service.ts';

const LABEL = 'Mattermost';
/** "Incoming webhooks", parameters: a post of the largest kind. */
const MOST = 16_383;
const COLOR = { info: '#1c58d9', success: '#3db887', warning: '#ffbc1f', error: '#d24b4e' };

/**
 * Mattermost, a self-hosted server at `base_url`: an incoming webhook ("Incoming webhooks"), which may select another channel, or "Create a
 * post" with a bot's token.
 */
export const mattermost: ChatService = {
  name: 'mattermost',
  label: LABEL,
  needs: message('nodes.cred_mattermost'),
  webhook: {
    hosts: [],
    takesChannel: true,
    post(chat) {
      if (chat.thread !== null) throw new NodeProblem(message('nodes.mattermost_thread'));
      const channel = chat.channel === null ? {} : { channel: chat.channel };
      return { body: { ...contentOf(chat), ...channel } };
    },
  },
  api: {
    base: null,
    auth: { header: 'authorization', scheme: 'Bearer ' },
    channel: { what: message('nodes.channel_mattermost') },
    // "Get a user", with `me` instead of an id.
    probe: { path: '/api/v4/users/me' },
    // "Get all channels from all teams": open and private ones; the others are conversations.
    channels: {
      path: '/api/v4/users/me/channels',
      read(body) {
        if (!isJsonArray(body)) return null;
        const channels = body
          .filter((each) => ['O', 'P'].includes(memberText(each, 'type')))
          .map((each) => ({
            id: memberText(each, 'id'),
            name: memberText(each, 'display_name') || memberText(each, 'name'),
            group: null,
          }));
        return { channels, more: [] };
      },
    },
    post(chat, channel) {
      const { text, ...attached } = contentOf(chat);
      const thread = chat.thread === null ? {} : { root_id: chat.thread };
      const props = attached.attachments === undefined ? {} : { props: attached };
      return { path: '/api/v4/posts', body: { channel_id: channel, message: text, ...thread, ...props } };
    },
  },
  read(answer) {
    if (isOk(answer)) return sent(member(answer.body, 'id'));
    const reason = memberText(answer.body, 'message') || plainReason(answer);
    return refusedByStatus(answer, reason, untilReset(answer));
  },
};

/** "Rate limiting": X-RateLimit-Reset is the number of seconds left. */
function untilReset({ response: { headers, status } }: ChatAnswer): number | undefined {
  return status === 429 ? secondsMember(headers, 'x-ratelimit-reset') : undefined;
}

function contentOf(chat: ChatMessage): { text: string; attachments?: JsonObject[] } {
  const { isPlain, title, fields, link, color } = chat;
  const plain = (text: string): string => (chat.allowMentions ? text : disarmAtSigns(text));
  const text = plain(chat.text);
  checkLength('config.text', text, MOST, LABEL);
  if (isPlain) return { text };
  const linked =
    link === null ? '' : `[${link.text.replace(/[[\]]/g, '')}](${link.url.replaceAll(')', '%29')})`;
  const body = [text, linked].filter((part) => part !== '').join('\n\n');
  checkLength(message('nodes.text_and_link'), body, MOST, LABEL);
  const attachment = {
    fallback: title ?? text,
    ...(title === null ? {} : { title: plain(title) }),
    text: body,
    fields: fields.map(({ label, value }) => ({
      title: plain(label),
      value: plain(value),
      short: value.length <= 40,
    })),
    ...(color === null ? {} : { color: COLOR[color] }),
  };
  return { text: '', attachments: [attachment] };
}
