import type { ConfigFault, JsonObject } from '@millrace/engine';
import { message } from '@millrace/messages';
import { choice } from '@millrace/node-kit/choice';
import { defaultsOf } from '@millrace/node-kit/defaults-of';
import { validatorOf } from '@millrace/node-kit/validator';
import { templatesIn } from '@millrace/node-kit/values';
import { type Static, Type } from 'typebox';
import { isOrigin, originFaults, originsSchema } from '../origins.ts';

const MAX_SUGGESTIONS = 6;
/** Of a message, and of an answer. */
export const MAX_CHAT_FILES = 10;

/** The settings of a hosted chat, as the editor shows them. */
export const chatProperties = {
  title: Type.String({
    title: 'Title',
    description: 'The heading of the page.',
    maxLength: 200,
    default: '',
    'x-filled': true,
  }),
  greeting: Type.String({
    title: 'Greeting',
    description: 'Shown before the first message.',
    maxLength: 2_000,
    default: '',
    'x-multiline': true,
  }),
  suggestions: Type.Array(
    Type.String({ title: 'Question', minLength: 1, maxLength: 200, default: 'What can you do?' }),
    {
      title: 'Suggested questions',
      description: 'Buttons that send a first message. At most 6.',
      maxItems: MAX_SUGGESTIONS,
      default: [],
    },
  ),
  placeholder: Type.String({
    title: 'Placeholder',
    description: 'What the empty message field says. Empty for a text in the language of the page.',
    maxLength: 200,
    default: '',
  }),
  language: choice(
    'Language',
    "Of the page's own texts. Automatic: the language that the visitor's browser asks for.",
    { auto: 'Automatic', en: 'English', ja: 'Japanese' },
    { default: 'auto' },
  ),
  answer: Type.String({
    title: 'Answer',
    description:
      'What the visitor gets when the workflow has finished. Empty: the text of the last node, such as an agent.',
    maxLength: 10_000,
    default: '',
    'x-placeholder': '{{nodes.agent.output.text}}',
  }),
  answer_files: Type.String({
    title: 'Files of the answer',
    description:
      'A template for a file or a list of files that the visitor can save, such as {{nodes.draw.output.file}}. Empty: none.',
    maxLength: 10_000,
    default: '',
    'x-placeholder': '{{nodes.draw.output.file}}',
  }),
  live: Type.Boolean({
    title: 'Show the answer while it is written',
    description:
      'Only what becomes the answer is shown: the text of the last node, or of the one that Answer names.',
    default: true,
  }),
  files_per_message: Type.Integer({
    title: 'Files per message',
    description: 'How many files a visitor can attach to a message: {{trigger.data.files}}. 0 for none.',
    minimum: 0,
    maximum: MAX_CHAT_FILES,
    default: 0,
  }),
  files_accept: Type.String({
    title: 'Accepted files',
    description: 'Extensions or media types, separated by commas: .pdf, image/*. Empty for any file.',
    maxLength: 200,
    default: 'image/png, image/jpeg, image/webp, image/gif, .pdf',
    'x-placeholder': '.pdf, image/*',
  }),
  files_mb: Type.Integer({
    title: 'Megabytes per message',
    description: 'How large the files of a message can be together.',
    minimum: 1,
    maximum: 10,
    default: 5,
  }),
  message_chars: Type.Integer({
    title: 'Characters per message',
    description: 'Longer messages are refused.',
    minimum: 1,
    maximum: 16_000,
    default: 4_000,
  }),
  messages_per_minute: Type.Integer({
    title: 'Messages per minute',
    description:
      'How many messages one conversation, and one address, can send within a minute. 0 for any number.',
    minimum: 0,
    maximum: 1_000,
    default: 10,
  }),
  messages_per_session: Type.Integer({
    title: 'Messages per conversation',
    description: 'After that the visitor has to begin a new one. 0 for any number.',
    minimum: 0,
    maximum: 10_000,
    default: 200,
  }),
  sessions_per_hour: Type.Integer({
    title: 'Conversations per hour',
    description: 'How many conversations can begin within an hour. 0 for any number.',
    minimum: 0,
    maximum: 100_000,
    default: 500,
  }),
  allowed_origins: originsSchema(
    'Websites that can show the chat, such as https://www.example.com. Empty: none.',
  ),
};

/** The settings of a chat with all defaults filled in. */
export type ChatOptions = Static<ReturnType<typeof Type.Object<typeof chatProperties>>>;

const validator = validatorOf(Type.Object(chatProperties, { additionalProperties: false }));

/** A chat trigger's config with defaults filled in; null when it can't be used. */
export function readChatOptions(config: JsonObject): ChatOptions | null {
  const complete: unknown = { ...defaultsOf(chatProperties), ...config };
  if (!validator().Check(complete)) return null;
  return complete.allowed_origins.every(isOrigin) ? complete : null;
}

/** Faults of a config that matches the schema. The answer is made when the workflow has finished, so it may have templates. */
export function findChatFaults({
  answer: _answer,
  answer_files: _files,
  ...config
}: JsonObject): readonly ConfigFault[] {
  const templates = templatesIn(config, message('nodes.template_before_run'));
  if (templates.length > 0) return templates;
  const complete: unknown = { ...defaultsOf(chatProperties), ...config };
  if (!validator().Check(complete)) return [];
  return originFaults(complete.allowed_origins);
}
