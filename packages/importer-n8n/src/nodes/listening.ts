import { type JsonValue, own } from '@millrace/engine';
import type { Shape } from '@millrace/importer-kit/refs';
import { type Message, message } from '@millrace/messages';
import { arrayOf, type N8nNode, parameterOf, textOf } from '../read.ts';

/** A trigger that listens, and where what n8n gives is found here. */
export interface ListeningPlan {
  readonly type: 'trigger.email' | 'trigger.kafka' | 'trigger.mqtt' | 'trigger.postgresql' | 'trigger.redis';
  readonly config: { readonly [name: string]: JsonValue };
  /** Absent: what is at the path is the item. */
  readonly shape?: Shape;
  readonly path: string;
  readonly notes: readonly Message[];
}

type Plan = Omit<ListeningPlan, 'path' | 'shape'> & Partial<Pick<ListeningPlan, 'path' | 'shape'>>;

const PLANS: { readonly [kind: string]: (node: N8nNode) => Plan | null } = {
  emailReadImap: mailbox,
  kafkaTrigger: kafkaTopic,
  mqttTrigger: topics,
  postgresTrigger: channels,
  redisTrigger: stream,
};

/** Null if the node doesn't listen, or to nothing that can be listened to here. */
export function listeningOf(node: N8nNode): ListeningPlan | null {
  const plan = own(PLANS, node.kind)?.(node) ?? null;
  if (plan === null) return null;
  return { path: 'trigger.data', ...plan, notes: [message('import.choose_credential'), ...plan.notes] };
}

function mailbox(node: N8nNode): Plan {
  const { parameters } = node;
  const rules = textOf(parameterOf(node, 'options.customEmailConfig')) ?? '["UNSEEN"]';
  const downloads = parameterOf(node, 'options.downloadAttachments');
  const isSimple = (textOf(parameters.format) ?? 'simple') === 'simple';
  return {
    type: 'trigger.email',
    config: {
      credential_id: 0,
      folder: fixed(parameters.mailbox, 'INBOX'),
      only_unseen: /UNSEEN/.test(rules),
      after: textOf(parameters.postProcessAction) === 'nothing' ? 'nothing' : 'seen',
      attachments: parameters.downloadAttachments === true || downloads === true,
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

function topics(node: N8nNode): Plan {
  const listed = fixed(node.parameters.topics, '').split(',');
  // A number after a colon is n8n's way to say the quality of service.
  const names = listed.map((each) => each.trim().replace(/:[012]$/, '')).filter((each) => each !== '');
  const isJson = parameterOf(node, 'options.jsonParseBody') === true;
  return {
    type: 'trigger.mqtt',
    config: { credential_id: 0, topics: names },
    shape: { message: [isJson ? 'json' : 'text'], topic: ['topic'] },
    notes: [],
  };
}

/** Null if messages are in a format that a registry describes: they can't be read here. */
function kafkaTopic(node: N8nNode): Plan | null {
  const { parameters } = node;
  if (parameters.useSchemaRegistry === true) return null;
  const value = parameterOf(node, 'options.jsonParseMessage') === true ? 'json' : 'text';
  const topic = fixed(parameters.topic, '');
  return {
    type: 'trigger.kafka',
    config: {
      credential_id: 0,
      topics: topic === '' ? [] : [topic],
      group: fixed(parameters.groupId, ''),
      existing: parameterOf(node, 'options.fromBeginning') === false ? 'skip' : 'start',
    },
    ...(parameterOf(node, 'options.onlyMessage') === true
      ? { path: `trigger.data.${value}` }
      : { shape: { message: [value], topic: ['topic'], headers: ['headers'] } }),
    notes: [],
  };
}

function channels(node: N8nNode): Plan {
  const { parameters } = node;
  const makesTrigger = textOf(parameters.triggerMode) === 'createTrigger';
  const given = makesTrigger ? parameterOf(node, 'additionalFields.channelName') : parameters.channelName;
  const channel = fixed(given, '');
  return {
    type: 'trigger.postgresql',
    config: { credential_id: 0, channels: channel === '' ? [] : [channel] },
    shape: { payload: ['json'], channel: ['channel'], processId: ['process_id'] },
    notes: makesTrigger ? [message('import.make_database_trigger')] : [],
  };
}

function stream({ parameters }: N8nNode): Plan {
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
