import type { JsonObject } from '@millrace/engine';
import { checkLength } from './limits.ts';
import { disarmAtSigns } from './mentions.ts';
import { isOk, member, memberText, plainReason, refusedByStatus, secondsMember, sent } from './outcome.ts';
import { apiRequest, apiUrl, channelOf, tokenOf, webhookRequest, webhookUrl } from './request.ts';
import { type ChatAnswer, type ChatMessage, ChatProblem, type ChatService } from './service.ts';

const LABEL = 'Mattermost';
/** "Incoming webhooks", parameters: a post of the largest kind. */
const MOST = 16_383;
const COLOR = { info: '#1c58d9', success: '#3db887', warning: '#ffbc1f', error: '#d24b4e' };

/**
 * Mattermost, a server of one's own named by `base_url`: an incoming webhook ("Incoming webhooks"), which may name another channel, or
 * "Create a post" with a bot's token.
 */
export const mattermost: ChatService = {
  name: 'mattermost',
  label: LABEL,
  compose(message, credential) {
    const { text, attachments } = contentOf(message);
    const url = webhookUrl(credential, LABEL, []);
    if (url !== null) {
      if (message.thread !== null) {
        throw new ChatProblem(
          'invalid_config',
          'A webhook of Mattermost cannot answer in a thread. Remove config.thread, or use a credential with a token.',
        );
      }
      const channel = message.channel === null ? {} : { channel: message.channel };
      return webhookRequest(url, { text, ...channel, ...(attachments === null ? {} : { attachments }) });
    }
    const token = tokenOf(
      credential,
      'The credential for Mattermost needs a "Webhook URL" or the "Token" of a bot.',
    );
    const channel = channelOf(message.channel, 'the id of the Mattermost channel');
    const thread = message.thread === null ? {} : { root_id: message.thread };
    const props = attachments === null ? {} : { props: { attachments } };
    const address = apiUrl(credential, null, '/api/v4/posts');
    const body = { channel_id: channel, message: text, ...thread, ...props };
    return apiRequest(address, body, ['authorization', `Bearer ${token}`]);
  },
  read(answer) {
    if (isOk(answer)) return sent(member(answer.body, 'id'));
    const reason = memberText(answer.body, 'message') || plainReason(answer);
    return refusedByStatus(answer, reason, untilReset(answer));
  },
};

/** "Rate limiting": X-RateLimit-Reset counts the seconds that are left. */
function untilReset({ response: { headers, status } }: ChatAnswer): number | undefined {
  return status === 429 ? secondsMember(headers, 'x-ratelimit-reset') : undefined;
}

function contentOf(message: ChatMessage): { text: string; attachments: JsonObject[] | null } {
  const { title, fields, link, color } = message;
  const plain = (text: string): string => (message.allowMentions ? text : disarmAtSigns(text));
  const text = plain(message.text);
  checkLength('config.text', text, MOST, LABEL);
  if (title === null && fields.length === 0 && link === null && color === null)
    return { text, attachments: null };
  const linked =
    link === null ? '' : `[${link.text.replace(/[[\]]/g, '')}](${link.url.replaceAll(')', '%29')})`;
  const body = [text, linked].filter((part) => part !== '').join('\n\n');
  checkLength('config.text and config.link', body, MOST, LABEL);
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
