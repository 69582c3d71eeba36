import { type ConfigFault, isJsonArray, isJsonObject, type JsonObject } from '@millrace/engine';
import { message } from '@millrace/messages';
import { credentialProperty } from '@millrace/node-kit/credential-property';
import { NodeProblem } from '@millrace/node-kit/node-problem';
import { isBlank } from '@millrace/node-kit/values';
import { type Static, Type } from 'typebox';
import { type ChatMessage, COLORS } from './service.ts';

const closed = { additionalProperties: false };
const text = (title: string, description: string) => Type.String({ title, description, default: '' });

const fieldSchema = Type.Object(
  {
    label: text('Label', 'Describes the value.'),
    value: Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()], {
      title: 'Value',
      description: 'Text, a number, or yes or no. Empty: nothing is shown.',
      default: '',
    }),
  },
  closed,
);

/** The settings of chat.notify, as the editor shows them. */
export const chatProperties = {
  credential_id: credentialProperty(
    ['chat'],
    'Credential',
    'The chat service, with the URL of an incoming webhook or a token.',
  ),
  channel: Type.String({
    title: 'Channel',
    description:
      'The ID of a channel, chat, room, space or user. Required with a token; a webhook has its own channel (with Mattermost, you can choose another).',
    default: '',
    'x-options': 'credential_id',
  }),
  text: Type.String({
    title: 'Text',
    description: 'Shown as it is. Formatting characters and mentions are escaped.',
    default: '',
    'x-multiline': true,
  }),
  title: text('Title', 'A heading above the text.'),
  fields: Type.Array(fieldSchema, {
    title: 'Fields',
    description: 'Labels and values in a table below the text.',
    default: [],
    maxItems: 100,
  }),
  link: Type.Object(
    {
      text: Type.Optional(text('Link text', 'The text to click. Empty: the URL.')),
      url: text('Link URL', 'http or https. Empty: no link.'),
    },
    { title: 'Link', description: 'A link or button below.', default: { text: '', url: '' }, ...closed },
  ),
  color: Type.Enum(['none', ...COLORS], {
    type: 'string',
    title: 'Colour',
    description: 'How urgent it looks, if the service supports it.',
    default: 'none',
    'x-labels': { none: 'None', info: 'Information', success: 'Success', warning: 'Warning', error: 'Error' },
  }),
  thread: text(
    'Thread',
    'What to reply to: ts (Slack), thread or message ID (Discord), thread key or name (Google Chat), post ID (Mattermost), message ID or topic:id (Telegram), account:message (Chatwork).',
  ),
  allow_mentions: Type.Boolean({
    title: 'Allow mentions',
    description: 'Whether @everyone, <!channel>, @name and the like in the text notify people.',
    default: false,
  }),
  timeout_ms: Type.Integer({
    title: 'Timeout',
    description: 'Time limit for the whole exchange in milliseconds.',
    minimum: 1,
    maximum: 120_000,
    default: 15_000,
  }),
};

/** A message needs content in at least one of several settings. */
export function findChatGaps(config: JsonObject): readonly ConfigFault[] {
  const { text: said = null, title = null, fields = null, link = null } = config;
  const address = isJsonObject(link) ? (link.url ?? null) : link;
  const isGiven = [said, title, address].some((value) => !isBlank(value));
  if (isGiven || (isJsonArray(fields) ? fields.length > 0 : fields !== null)) return [];
  return [{ pointer: '/text', message: message('nodes.no_chat_content') }];
}

export type ChatConfig = Static<ReturnType<typeof Type.Object<typeof chatProperties>>>;

/**
 * The message in the settings.
 * @throws NodeProblem when it is empty, or a link is invalid
 */
export function messageOf(config: ChatConfig, onceKey: string): ChatMessage {
  const given = (setting: string): string | null => (setting.trim() === '' ? null : setting.trim());
  const fields = config.fields.map(({ label, value }) => ({
    label,
    value: value === null || value === undefined ? '' : String(value),
  }));
  const link = linkOf(config.link);
  const title = given(config.title);
  if (config.text.trim() === '' && title === null && fields.length === 0 && link === null) {
    throw new NodeProblem(message('nodes.nothing_to_send'));
  }
  return {
    channel: given(config.channel),
    text: config.text,
    title,
    fields,
    link,
    color: config.color === 'none' ? null : config.color,
    thread: given(config.thread),
    isPlain: title === null && fields.length === 0 && link === null && config.color === 'none',
    allowMentions: config.allow_mentions,
    onceKey,
  };
}

function linkOf({
  text: shown = '',
  url: address = '',
}: {
  text?: string;
  url?: string;
}): ChatMessage['link'] {
  if (address.trim() === '') return null;
  const url = URL.parse(address.trim());
  if (url !== null && /^https?:$/.test(url.protocol)) {
    return { text: shown.trim() === '' ? url.href : shown.trim(), url: url.href };
  }
  throw new NodeProblem(message('nodes.wrong_link'));
}
