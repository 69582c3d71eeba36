import { isJsonArray, type JsonObject } from '@millrace/engine';
import { message } from '@millrace/messages';
import manifest from '../../package.json' with { type: 'json' };
import { checkedId } from './compose.ts';
import { checkFieldCount, checkLength } from './limits.ts';
import { isOk, member, memberText, plainReason, refusedByStatus, secondsMember, sent } from './outcome.ts';
import type { ChatMessage, ChatService } from './service.ts';

const LABEL = 'Discord';
/** "Message", content; "Embed limits". */
const MOST = {
  content: 2_000,
  title: 256,
  description: 4_096,
  fields: 25,
  fieldName: 256,
  fieldValue: 1_024,
  embed: 6_000,
};
const COLOR = { info: 0x3498db, success: 0x2ecc71, warning: 0xf1c40f, error: 0xe74c3c };
/** "API Reference", user agent. */
const USER_AGENT = { 'user-agent': `DiscordBot (Millrace, ${manifest.version})` };
const GUILDS = '/users/@me/guilds';
/** "Channel types": GUILD_TEXT and GUILD_ANNOUNCEMENT. */
const TEXT_CHANNELS = ['0', '5'];
const SNOWFLAKE = /^\d{15,21}$/;

/**
 * Discord: "Execute Webhook", with `wait` so that errors are reported, or "Create Message" with a bot's token, which drops duplicates by
 * nonce. Mentions are disabled by `allowed_mentions`, whatever the text contains.
 */
export const discord: ChatService = {
  name: 'discord',
  label: LABEL,
  needs: message('nodes.cred_discord'),
  webhook: {
    hosts: ['discord.com', 'discordapp.com', 'ptb.discord.com', 'canary.discord.com'],
    // "Get Webhook with Token": needs no other authentication.
    canBeRead: true,
    post(chat, url) {
      const thread = threadOf(chat);
      url.searchParams.set('wait', 'true');
      if (thread !== null) url.searchParams.set('thread_id', thread);
      return { body: contentOf(chat), headers: USER_AGENT };
    },
  },
  api: {
    base: 'https://discord.com/api/v10',
    auth: { header: 'authorization', scheme: 'Bot ' },
    channel: {
      what: message('nodes.channel_discord'),
      form: SNOWFLAKE,
      rule: message('nodes.wrong_discord_channel'),
    },
    // "Get Current User".
    probe: { path: '/users/@me' },
    // "Get Current User Guilds", then "Get Guild Channels" of each.
    channels: {
      path: GUILDS,
      read(body, { path, group }) {
        if (!isJsonArray(body)) return null;
        if (path === GUILDS) {
          const more = body
            .filter((guild) => SNOWFLAKE.test(memberText(guild, 'id')))
            .map((guild) => ({
              path: `/guilds/${memberText(guild, 'id')}/channels`,
              group: memberText(guild, 'name'),
            }));
          return { channels: [], more };
        }
        const channels = body
          .filter((each) => TEXT_CHANNELS.includes(memberText(each, 'type')))
          .map((each) => ({ id: memberText(each, 'id'), name: `#${memberText(each, 'name')}`, group }));
        return { channels, more: [] };
      },
    },
    post(chat, channel) {
      const thread = threadOf(chat);
      const reply =
        thread === null ? {} : { message_reference: { message_id: thread, fail_if_not_exists: false } };
      const once = { nonce: chat.onceKey.slice(0, 25), enforce_nonce: true };
      const body = { ...contentOf(chat), ...reply, ...once };
      return { path: `/channels/${channel}/messages`, body, headers: USER_AGENT };
    },
  },
  read(answer) {
    if (isOk(answer)) return sent(member(answer.body, 'id'));
    const code = memberText(answer.body, 'code');
    const text = memberText(answer.body, 'message');
    const reason = text === '' ? plainReason(answer) : code === '' ? text : `${text} (${code})`;
    return refusedByStatus(answer, reason, secondsMember(answer.body, 'retry_after'));
  },
};

function threadOf({ thread }: ChatMessage): string | null {
  return thread === null ? null : checkedId(thread, SNOWFLAKE, message('nodes.wrong_discord_thread'));
}

function contentOf({ isPlain, title, text, fields, link, color, allowMentions }: ChatMessage): JsonObject {
  const mentions = { allowed_mentions: { parse: allowMentions ? ['users', 'roles', 'everyone'] : [] } };
  if (isPlain) {
    checkLength('config.text', text, MOST.content, LABEL);
    return { content: text, ...mentions };
  }
  if (title !== null) checkLength('config.title', title, MOST.title, LABEL);
  const linked =
    link === null ? '' : `[${link.text.replace(/[[\]]/g, '')}](${link.url.replaceAll(')', '%29')})`;
  const description = [text, linked].filter((part) => part !== '').join('\n\n');
  checkLength(message('nodes.text_and_link'), description, MOST.description, LABEL);
  checkFieldCount(fields.length, MOST.fields, LABEL);
  for (const { label, value } of fields) {
    checkLength(message('nodes.label_of_field'), label, MOST.fieldName, LABEL);
    checkLength(message('nodes.value_of_field', { label }), value, MOST.fieldValue, LABEL);
  }
  const everything = [title ?? '', description, ...fields.flatMap(({ label, value }) => [label, value])].join(
    '',
  );
  checkLength(message('nodes.whole_message'), everything, MOST.embed, LABEL);
  const embed = {
    ...(title === null ? {} : { title }),
    ...(description === '' ? {} : { description }),
    // A field without a value would be refused; a zero-width space is invisible.
    fields: fields.map(({ label, value }) => ({
      name: label,
      value: value === '' ? '\u200b' : value,
      inline: true,
    })),
    ...(color === null ? {} : { color: COLOR[color] }),
  };
  return { embeds: [embed], ...mentions };
}
