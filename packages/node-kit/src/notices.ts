import {
  failure,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type NodeContext,
  type NodeResult,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { Type } from 'typebox';
import { sendRequest } from './http/send-request.ts';

const NOTIFIERS = ['chat.notify', 'email.send'] as const;
const MAX_TITLE_LENGTH = 300;

/** What is decided between unless somebody says otherwise; pages show these two in the reader's language. */
export const DEFAULT_CHOICES = [
  { id: 'approve', label: 'Approve' },
  { id: 'reject', label: 'Reject' },
];

const notifySchema = Type.Object(
  {
    type: Type.Unsafe<(typeof NOTIFIERS)[number]>({
      type: 'string',
      enum: NOTIFIERS,
      title: 'By',
      description: 'The node that sends the message.',
      default: 'chat.notify',
      'x-labels': { 'chat.notify': 'Chat message', 'email.send': 'E-mail' },
    }),
    config: Type.Unsafe<JsonObject>({
      type: 'object',
      title: 'Message',
      description: 'The settings of that node.',
      default: {},
      'x-node-config': 'type',
      // What a message needs at least, whatever language it is in.
      'x-starts': {
        'chat.notify': { text: '{{args.approval_url}}' },
        'email.send': { subject: 'Please decide', text: '{{args.approval_url}}' },
      },
    }),
  },
  { additionalProperties: false },
);

/** A setting with the message that tells people that they are asked to decide. */
export function notifyProperty(description: string) {
  return Type.Unsafe<JsonValue>(
    Type.Union([notifySchema, Type.Null()], { title: 'Message', description, default: null }),
  );
}

/** What templates of notices read as `args`. */
export function noticeArguments({
  url,
  choiceUrls,
}: {
  readonly url: string;
  readonly choiceUrls: { readonly [choiceId: string]: string };
}): JsonObject {
  const urls = Object.entries(choiceUrls).map(([id, choiceUrl]) => [`${id}_url`, choiceUrl]);
  return { approval_url: url, ...Object.fromEntries(urls) };
}

/**
 * Tells people of a question.
 * @param key tells apart the notices of one node's questions
 * @returns outputs of the sent messages, by setting, or the first failure
 */
export async function sendNotices(
  { notify, request }: { readonly notify: JsonValue; readonly request: JsonValue },
  context: NodeContext,
  args: JsonObject,
  key = '',
): Promise<{ readonly outputs: JsonObject } | { readonly failure: NodeResult }> {
  const outputs: { [setting: string]: JsonValue } = {};
  if (notify !== null) {
    const sent = await sendNotice(notify, context, args, `notify${key}`);
    if (sent.kind === 'failure') return { failure: sent };
    if (sent.kind === 'success') outputs.notify = sent.output;
  }
  if (request !== null) {
    const sent = await sendRequest(context, request, args, `request${key}`);
    if (sent.kind === 'failure') return { failure: sent };
    outputs.request = sent.output;
  }
  return { outputs };
}

async function sendNotice(
  template: JsonValue,
  context: NodeContext,
  args: JsonObject,
  callKey: string,
): Promise<NodeResult> {
  const notify = context.render(template, args);
  const { type, config } = isJsonObject(notify) ? notify : {};
  const isKnown = NOTIFIERS.some((known) => known === type);
  if (typeof type !== 'string' || !isKnown || config === undefined || !isJsonObject(config)) {
    return failure('invalid_config', message('nodes.wrong_notify', { types: NOTIFIERS.join(' or ') }));
  }
  return context.tools.run({ type, config, callKey });
}

/** A question in one line, as long as lists and messages can show it. */
export function cutTitle(title: string): string {
  return Array.from(title).slice(0, MAX_TITLE_LENGTH).join('');
}
