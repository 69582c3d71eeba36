import { failure, type JsonObject, type JsonValue, type KafkaOrder, success } from '@millrace/engine';
import { message } from '@millrace/messages';
import { credentialProperty, noCredential } from '@millrace/node-kit/credential-property';
import { checkedNode } from '@millrace/node-kit/define';
import { type Static, type TObject, Type } from 'typebox';
import { attemptLimitMs, timeoutProperty } from './timeout.ts';

const MAX_TIMEOUT_MS = 60_000;
const MAX_MESSAGES = 100;
/** Of all messages; brokers take batches of a megabyte by default. */
const MAX_BYTES = 900_000;
/** By which readers can tell a message that was sent twice. */
const KEY_HEADER = 'idempotency-key';

const properties = {
  credential_id: credentialProperty(['kafka'], 'Credential', 'The cluster and the account to sign in with.'),
  topic: Type.String({
    title: 'Topic',
    description: 'Where the messages go. It has to exist.',
    default: '',
    'x-filled': true,
    maxLength: 249,
  }),
  messages: Type.Unsafe<JsonValue>({
    title: 'Messages',
    description:
      'A value, or a list of values, each of which becomes a message. Text is sent as it is, anything else as JSON.',
    default: '',
    'x-filled': true,
  }),
  key: Type.Unsafe<JsonValue>({
    title: 'Key',
    description:
      'Messages with the same key keep their order. A text for all messages, or a list with one for each. Empty: none.',
    default: '',
  }),
  headers: Type.Unsafe<JsonObject>({
    type: 'object',
    title: 'Headers',
    description: 'Names and values that each message has. Text is sent as it is, anything else as JSON.',
    default: {},
    maxProperties: 50,
  }),
  partition: Type.Integer({
    title: 'Partition',
    description: 'Its number; -1 to let the key decide.',
    minimum: -1,
    maximum: 100_000,
    default: -1,
  }),
  timeout_ms: timeoutProperty(MAX_TIMEOUT_MS),
};

type Config = Static<TObject<typeof properties>>;

export const kafka = checkedNode({
  type: 'data.kafka',
  title: 'Kafka',
  description:
    'Sends messages to a topic of an Apache Kafka cluster and waits until all replicas in sync have them. The header idempotency-key lets readers notice a message that was sent twice.',
  icon: 'message-square',
  kind: 'effect',
  properties,
  required: ['credential_id', 'topic', 'messages'],
  defaultTimeoutMs: attemptLimitMs(MAX_TIMEOUT_MS),
  form: {
    main: ['credential_id', 'topic', 'messages', 'key'],
    sections: [
      { title: 'Headers and partition', fields: ['headers', 'partition'] },
      { title: 'Limits', fields: ['timeout_ms'] },
    ],
  },
  synonyms: [
    'kafka',
    'redpanda',
    'produce',
    'publish',
    'send',
    'queue',
    'topic',
    'stream',
    'event',
    'message',
  ],
  examples: [
    {
      title: 'Tell others of an order',
      config: {
        credential_id: 2,
        topic: 'orders',
        messages: { id: '{{trigger.data.id}}' },
        key: '{{trigger.data.customer}}',
      },
      trigger: { id: 17, customer: 'ada' },
      credential: {
        type: 'kafka',
        brokers: 'kafka.example.com:9093',
        mechanism: 'scram_sha_512',
        username: 'millrace',
        password: 'your-password',
        tls: 'verify',
        ...{ token_url: null, scope: null, extensions: null },
        ...{ certificate: null, private_key: null, passphrase: null, authority: null },
      },
      expect: { output: { sent: 1, messages: [{ partition: 0, offset: 0 }] } },
    },
  ],
  async run(config, context) {
    if (config.credential_id === 0)
      return failure('invalid_config', noCredential('credential_id', ['kafka']));
    if (config.topic.trim() === '') return failure('invalid_config', message('nodes.kafka_no_topic'));
    const order = orderOf(config, context.idempotencyKey);
    if (order === null) {
      return failure(
        'invalid_config',
        message('nodes.kafka_messages', { max: MAX_MESSAGES, bytes: MAX_BYTES }),
      );
    }
    if (context.execution.isTestMode) {
      const { topic, messages } = order;
      const shown = messages.map(({ headers, ...each }) => {
        const { [KEY_HEADER]: _, ...named } = headers;
        return { ...each, headers: named };
      });
      return success({ dry_run: true, request: { topic, messages: shown } });
    }
    const credential = await context.credentials.open(config.credential_id, { types: ['kafka'] });
    const sent = await context.kafka.send(credential, order, context.signal);
    return success({ sent: sent.length, messages: sent.map((each) => ({ ...each })) });
  },
});

/** @returns null if there are no messages, too many, or keys that don't fit them */
function orderOf(
  { topic, messages, key, headers, partition, timeout_ms: timeoutMs }: Config,
  idempotencyKey: string,
): KafkaOrder | null {
  const values = Array.isArray(messages) ? (messages as readonly JsonValue[]) : [messages];
  const keys = Array.isArray(key) ? (key as readonly JsonValue[]) : values.map(() => key);
  if (values.length === 0 || values.length > MAX_MESSAGES || keys.length !== values.length) return null;
  const named = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, textOf(value) ?? '']),
  );
  const all = values.map((value, index) => ({
    key: keyOf(keys[index] ?? null),
    value: textOf(value),
    headers: {
      ...named,
      [KEY_HEADER]: values.length === 1 ? idempotencyKey : `${idempotencyKey}-${index + 1}`,
    },
    partition: partition < 0 ? null : partition,
  }));
  if (Buffer.byteLength(JSON.stringify(all)) > MAX_BYTES) return null;
  return { topic: topic.trim(), messages: all, timeoutMs };
}

function textOf(value: JsonValue): string | null {
  return value === null || typeof value === 'string' ? value : JSON.stringify(value);
}

function keyOf(value: JsonValue): string | null {
  return value === '' ? null : textOf(value);
}
