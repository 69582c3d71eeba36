import type { JsonObject } from '@millrace/engine';
import { message } from '@millrace/messages';
import { checkFieldCount, checkLength } from './limits.ts';
import { escapeEntities } from './mentions.ts';
import { isOk, listOf, member, memberText, plainReason, refusedByStatus, sent } from './outcome.ts';
import type { ChatMessage, ChatOutcome, ChatService } from './service.ts';

const LABEL = 'Slack';
/** "chat.postMessage", truncating content; "Block Kit", section and header. */
const MOST = {
  text: 40_000,
  section: 3_000,
  header: 150,
  fields: 50,
  fieldsOfSection: 10,
  field: 2_000,
  link: 3_000,
};
const COLOR = { info: '#1d9bd1', success: '#2eb67d', warning: '#ecb22e', error: '#e01e5a' };
/** "Formatting text for app surfaces": mentions of people or groups, once escaped. */
const ESCAPED_MENTION =
  /&lt;((?:!(?:here|channel|everyone|subteam\^[A-Z0-9]+)|@[UW][A-Z0-9]+)(?:\|[^&<>|]*)?)&gt;/g;
const AUTH_ERRORS = [
  'invalid_auth',
  'not_authed',
  'account_inactive',
  'token_revoked',
  'token_expired',
  'missing_scope',
  'no_permission',
  'not_allowed_token_type',
  'invalid_token',
];
const PASSING_ERRORS = [
  'internal_error',
  'fatal_error',
  'request_timeout',
  'service_unavailable',
  'rollup_error',
];

/**
 * Slack: an incoming webhook ("Sending messages using incoming webhooks") or chat.postMessage with a bot token. Their responses differ: a
 * webhook returns a status and a word of text, the API returns `ok` and `error` with status 200.
 */
export const slack: ChatService = {
  name: 'slack',
  label: LABEL,
  needs: message('nodes.cred_slack'),
  webhook: {
    hosts: ['hooks.slack.com', 'hooks.slack-gov.com'],
    post: (chat) => ({ body: contentOf(chat) }),
  },
  api: {
    base: 'https://slack.com/api',
    auth: { header: 'authorization', scheme: 'Bearer ' },
    channel: { what: message('nodes.channel_slack') },
    // Needs no scope.
    probe: { path: '/auth.test', method: 'POST' },
    channels: {
      path: channelsPath('public_channel,private_channel'),
      read(body, { path }) {
        // The scope for private channels is another one.
        if (memberText(body, 'error') === 'missing_scope' && path.includes('private_channel')) {
          return { channels: [], more: [{ path: channelsPath('public_channel'), group: null }] };
        }
        if (member(body, 'ok') !== true) return null;
        const cursor = memberText(body, 'response_metadata', 'next_cursor');
        const next = `${path.replace(/&cursor=.*$/, '')}&cursor=${encodeURIComponent(cursor)}`;
        return {
          channels: listOf(member(body, 'channels')).map((each) => ({
            id: memberText(each, 'id'),
            name: `#${memberText(each, 'name')}`,
            group: null,
          })),
          more: cursor === '' ? [] : [{ path: next, group: null }],
        };
      },
    },
    post: (chat, channel) => ({ path: '/chat.postMessage', body: { channel, ...contentOf(chat) } }),
  },
  read(answer): ChatOutcome {
    const error = memberText(answer.body, 'error');
    if (!isOk(answer)) return refusedByStatus(answer, error === '' ? plainReason(answer) : error);
    if (member(answer.body, 'ok') !== false) return sent(member(answer.body, 'ts'));
    if (error === 'ratelimited')
      return refusedByStatus({ ...answer, response: { ...answer.response, status: 429 } }, error);
    return {
      kind: 'refused',
      code: AUTH_ERRORS.includes(error)
        ? 'chat_auth_failed'
        : PASSING_ERRORS.includes(error)
          ? 'chat_unavailable'
          : 'chat_refused',
      reason: error,
      retryable: PASSING_ERRORS.includes(error),
    };
  },
};

/** "conversations.list". */
function channelsPath(types: string): string {
  return `/conversations.list?limit=1000&exclude_archived=true&types=${types}`;
}

function escapeText(text: string, { allowMentions }: ChatMessage): string {
  const escaped = escapeEntities(text);
  return allowMentions ? escaped.replace(ESCAPED_MENTION, '<$1>') : escaped;
}

function contentOf(chat: ChatMessage): JsonObject {
  const { title, color } = chat;
  const thread = chat.thread === null ? {} : { thread_ts: chat.thread };
  const text = escapeText(chat.text, chat);
  checkLength('config.text', text, MOST.text, LABEL);
  if (chat.isPlain) return { text, ...thread };
  const blocks = blocksOf(chat, text);
  // Blocks within an attachment get its coloured bar; outside of it, `text` is shown in notifications.
  const fallback = title === null ? text : escapeText(title, chat);
  return color === null
    ? { text: fallback, blocks, ...thread }
    : { attachments: [{ color: COLOR[color], fallback, blocks }], ...thread };
}

function blocksOf(chat: ChatMessage, text: string): JsonObject[] {
  const { title, fields, link } = chat;
  if (title !== null) checkLength('config.title', title, MOST.header, LABEL);
  if (text !== '') checkLength(message('nodes.text_beside_parts'), text, MOST.section, LABEL);
  checkFieldCount(fields.length, MOST.fields, LABEL);
  const mrkdwn = (content: string): JsonObject => ({ type: 'mrkdwn', text: content });
  const cells = fields.map(({ label, value }) => {
    const cell = `*${escapeText(label, chat)}*\n${escapeText(value, chat)}`;
    checkLength(message('nodes.value_of_field', { label }), cell, MOST.field, LABEL);
    return mrkdwn(cell);
  });
  const sections = Array.from({ length: Math.ceil(cells.length / MOST.fieldsOfSection) }, (_, index) => ({
    type: 'section',
    fields: cells.slice(index * MOST.fieldsOfSection, (index + 1) * MOST.fieldsOfSection),
  }));
  const linked =
    link === null ? '' : `<${linkTarget(link.url)}|${escapeText(link.text, chat).replaceAll('|', '¦')}>`;
  checkLength('config.link', linked, MOST.link, LABEL);
  return [
    ...(title === null ? [] : [{ type: 'header', text: { type: 'plain_text', text: title, emoji: true } }]),
    ...(text === '' ? [] : [{ type: 'section', text: mrkdwn(text) }]),
    ...sections,
    ...(link === null ? [] : [{ type: 'section', text: mrkdwn(linked) }]),
  ];
}

/** A bar would end the URL. */
function linkTarget(url: string): string {
  return escapeEntities(url).replaceAll('|', '%7C');
}
