import type { JsonValue } from '@millrace/engine';
import type { Shape } from '@millrace/importer-kit/refs';
import { type Message, message } from '@millrace/messages';
import { arrayOf, type N8nNode, objectOf, textOf } from '../read.ts';

/** A trigger that listens, and where what n8n gives is found here. */
export interface ListeningPlan {
  readonly type: 'trigger.email' | 'trigger.mqtt' | 'trigger.postgresql' | 'trigger.redis';
  readonly config: { readonly [name: string]: JsonValue };
  readonly shape: Shape;
  readonly path: 'trigger.data';
  readonly notes: readonly Message[];
}

const PLANS: { readonly [kind: string]: (node: N8nNode) => Omit<ListeningPlan, 'path'> } = {
  emailReadImap: mailbox,
  mqttTrigger: topics,
  postgresTrigger: channels,
  redisTrigger: stream,
};

/** Null if the node doesn't listen, or to nothing that can be listened to here. */
export function listeningOf(node: N8nNode): ListeningPlan | null {
  const plan = Object.hasOwn(PLANS, node.kind) ? PLANS[node.kind]?.(node) : undefined;
  if (plan === undefined) return null;
  return { ...plan, path: 'trigger.data', notes: [message('import.choose_credential'), ...plan.notes] };
}

function mailbox({ parameters }: N8nNode): Omit<ListeningPlan, 'path'> {
  const options = objectOf(parameters.options);
  const rules = textOf(options.customEmailConfig) ?? '["UNSEEN"]';
  const isSimple = (textOf(parameters.format) ?? 'simple') === 'simple';
  return {
    type: 'trigger.email',
    config: {
      credential_id: 0,
      folder: fixed(parameters.mailbox, 'INBOX'),
      only_unseen: /UNSEEN/.test(rules),
      after: textOf(parameters.postProcessAction) === 'nothing' ? 'nothing' : 'seen',
      attachments: parameters.downloadAttachments === true || options.downloadAttachments === true,
      // n8n begins with what is there.
      existing: 'start',
    },
    shape: {
      subject: ['subject'],
      textPlain: ['text'],
      textHtml: ['html'],
      text: ['text'],
      html: ['html'],
      date: ['date'],
      messageId: ['message_id'],
      from: isSimple ? ['from', 'address'] : ['from'],
      to: isSimple ? ['to', '0', 'address'] : ['to'],
    },
    notes: /^\s*\[\s*"UNSEEN"\s*\]\s*$/.test(rules) ? [] : [message('import.mail_rules')],
  };
}

function topics({ parameters }: N8nNode): Omit<ListeningPlan, 'path'> {
  const listed = fixed(parameters.topics, '').split(',');
  // A number after a colon is n8n's way to say the quality of service.
  const names = listed.map((each) => each.trim().replace(/:[012]$/, '')).filter((each) => each !== '');
  const isJson = objectOf(parameters.options).jsonParseBody === true;
  return {
    type: 'trigger.mqtt',
    config: { credential_id: 0, topics: names },
    shape: { message: [isJson ? 'json' : 'text'], topic: ['topic'] },
    notes: [],
  };
}

function channels({ parameters }: N8nNode): Omit<ListeningPlan, 'path'> {
  const makesTrigger = textOf(parameters.triggerMode) === 'createTrigger';
  const given = makesTrigger ? objectOf(parameters.additionalFields).channelName : parameters.channelName;
  const channel = fixed(given, '');
  return {
    type: 'trigger.postgresql',
    config: { credential_id: 0, channels: channel === '' ? [] : [channel] },
    shape: { payload: ['json'], channel: ['channel'], processId: ['process_id'] },
    notes: makesTrigger ? [message('import.make_database_trigger')] : [],
  };
}

function stream({ parameters }: N8nNode): Omit<ListeningPlan, 'path'> {
  const given = parameters.channels;
  const [first = ''] = Array.isArray(given)
    ? arrayOf(given).map((each) => fixed(each, ''))
    : fixed(given, '').split(',');
  return {
    type: 'trigger.redis',
    config: { credential_id: 0, stream: first.trim() },
    shape: { message: ['fields', 'message'], channel: ['stream'] },
    notes: [message('import.redis_stream')],
  };
}

/** A value that isn't an expression. */
function fixed(value: JsonValue | undefined, otherwise: string): string {
  const text = textOf(value);
  return text === null || text.startsWith('=') ? otherwise : text;
}
