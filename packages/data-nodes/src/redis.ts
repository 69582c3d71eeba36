import { failure, type JsonObject, type JsonValue, success, tryParseJson } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { choice } from '@millrace/node-kit/choice';
import { credentialProperty, noCredential } from '@millrace/node-kit/credential-property';
import { checkedNode } from '@millrace/node-kit/define';
import { type Static, type TObject, Type } from 'typebox';
import { isReading, OPERATIONS, type Operation, orderOf, outputOf } from './redis-commands.ts';
import { attemptLimitMs, timeoutProperty } from './timeout.ts';

const TEN_YEARS_S = 10 * 366 * 86_400;
const MAX_TIMEOUT_MS = 60_000;
/** Of the texts that are sent together. */
const MAX_ITEMS = 1_000;

const WITH_KEY: readonly Operation[] = [
  'get',
  'set',
  'increment',
  'hash_get',
  'hash_set',
  'list_push',
  'list_pop',
  'publish',
  'stream_add',
];

const properties = {
  credential_id: credentialProperty(
    ['redis'],
    'Credential',
    'A Redis server and the account to sign in with.',
  ),
  operation: Type.Unsafe<Operation>({
    type: 'string',
    enum: OPERATIONS,
    title: 'Operation',
    description: 'What is done with the key.',
    default: 'get',
    'x-labels': {
      get: 'Get a value',
      set: 'Set a value',
      delete: 'Delete keys',
      increment: 'Increment a number',
      keys: 'Find keys',
      hash_get: 'Get fields of a hash',
      hash_set: 'Set fields of a hash',
      list_push: 'Add to a list',
      list_pop: 'Take from a list',
      publish: 'Publish a message',
      stream_add: 'Add to a stream',
    },
  }),
  key: Type.String({
    title: 'Key',
    'x-when': { operation: WITH_KEY },
    description: 'The name of the entry; of a message, its channel.',
    default: '',
    'x-filled': true,
    maxLength: 10_000,
  }),
  keys: Type.Array(Type.String({ minLength: 1, maxLength: 10_000 }), {
    title: 'Keys',
    'x-when': { operation: ['delete'] },
    description: 'The names of the entries to delete.',
    default: [],
    maxItems: MAX_ITEMS,
  }),
  value: Type.Unsafe<JsonValue>({
    title: 'Value',
    'x-when': { operation: ['set', 'publish'] },
    description: 'Text is sent as it is, anything else as JSON.',
    default: '',
  }),
  values: Type.Unsafe<readonly JsonValue[]>({
    type: 'array',
    title: 'Values',
    'x-when': { operation: ['list_push'] },
    description: 'What is added, in this order. Text is sent as it is, anything else as JSON.',
    default: [],
    maxItems: MAX_ITEMS,
  }),
  fields: Type.Unsafe<JsonObject>({
    type: 'object',
    title: 'Fields',
    'x-when': { operation: ['hash_set', 'stream_add'] },
    description: 'Names and values. Text is sent as it is, anything else as JSON.',
    default: {},
    maxProperties: MAX_ITEMS,
  }),
  field: Type.String({
    title: 'Field',
    'x-when': { operation: ['hash_get'] },
    description: 'Which field of the hash. Empty: all.',
    default: '',
    maxLength: 10_000,
  }),
  by: Type.Number({
    title: 'By',
    'x-when': { operation: ['increment'] },
    description: 'How much is added; negative to count down. A missing entry counts as 0.',
    default: 1,
  }),
  condition: choice(
    'Write',
    'Whether an entry may or must be there already; output.written says whether it was written.',
    { always: 'Always', if_missing: 'Only if missing', if_present: 'Only if present' },
    { 'x-when': { operation: ['set'] }, default: 'always' },
  ),
  expires_in_s: Type.Integer({
    title: 'Expires in',
    'x-when': { operation: ['set'] },
    description: 'After how many seconds the entry expires; 0 for never.',
    minimum: 0,
    maximum: TEN_YEARS_S,
    default: 0,
  }),
  side: choice(
    'End of the list',
    'Adding on the right and taking from the left makes a queue.',
    { left: 'Left (first)', right: 'Right (last)' },
    { 'x-when': { operation: ['list_push', 'list_pop'] }, default: 'right' },
  ),
  count: Type.Integer({
    title: 'Count',
    'x-when': { operation: ['list_pop'] },
    description: 'How many values are taken at most. Needs Redis 6.2 or newer.',
    minimum: 1,
    maximum: MAX_ITEMS,
    default: 1,
  }),
  max_length: Type.Integer({
    title: 'Keep at most',
    'x-when': { operation: ['stream_add'] },
    description: 'About how many entries the stream keeps; older ones are removed. 0 for all.',
    minimum: 0,
    maximum: 1_000_000_000,
    default: 0,
  }),
  pattern: Type.String({
    title: 'Pattern',
    'x-when': { operation: ['keys'] },
    description: 'With * for any characters and ? for one, such as session:*.',
    default: '*',
    minLength: 1,
    maxLength: 1_000,
  }),
  limit: Type.Integer({
    title: 'Limit',
    'x-when': { operation: ['keys'] },
    description: 'The maximum number of keys; if there are more, is_truncated is true.',
    minimum: 1,
    maximum: 10_000,
    default: 1_000,
  }),
  parse_json: Type.Boolean({
    title: 'Read JSON',
    'x-when': { operation: ['get', 'hash_get', 'list_pop'] },
    description: 'Texts that are JSON objects or lists are read as such.',
    default: true,
  }),
  timeout_ms: timeoutProperty(MAX_TIMEOUT_MS),
};

type Config = Static<TObject<typeof properties>>;

export const redis = checkedNode({
  type: 'data.redis',
  title: 'Redis',
  description:
    'Reads and writes values, hashes, lists and streams of a Redis server (or Valkey), and publishes messages. Texts that are not UTF-8 arrive as base64.',
  icon: 'database',
  kind: 'effect',
  properties,
  required: ['credential_id', 'operation'],
  defaultTimeoutMs: attemptLimitMs(MAX_TIMEOUT_MS),
  form: {
    main: [
      'credential_id',
      'operation',
      'key',
      'keys',
      'pattern',
      'value',
      'values',
      'fields',
      'field',
      'by',
      'side',
      'count',
      'condition',
      'expires_in_s',
      'max_length',
      'limit',
      'parse_json',
    ],
    sections: [{ title: 'Limits', fields: ['timeout_ms'] }],
  },
  synonyms: ['cache', 'key value', 'valkey', 'queue', 'pubsub', 'hash', 'stream', 'database', 'counter'],
  examples: [
    {
      title: 'Count the requests of a customer',
      config: { credential_id: 2, operation: 'increment', key: 'requests:{{trigger.data.customer}}' },
      trigger: { customer: 17 },
      credential: {
        type: 'redis',
        host: 'redis.example.com',
        port: 6379,
        database: 0,
        username: null,
        password: 'your-password',
        tls: 'verify',
      },
      redis: [3],
      expect: { output: { key: 'requests:17', value: 3 } },
    },
  ],
  async run(config, context) {
    if (config.credential_id === 0)
      return failure('invalid_config', noCredential('credential_id', ['redis']));
    const problem = problemOf(config);
    if (problem !== null) return failure('invalid_config', problem);
    const order = orderOf(config, config.timeout_ms);
    if (context.execution.isTestMode && !isReading(config.operation)) {
      return success({ dry_run: true, request: { commands: order.commands.map((args) => [...args]) } });
    }
    const credential = await context.credentials.open(config.credential_id, { types: ['redis'] });
    const answers = await context.redis.run(credential, order, context.signal);
    const read = config.parse_json ? readJson : (value: JsonValue): JsonValue => value;
    return success(outputOf(config, answers.at(-1) ?? null, read));
  },
});

/** What an operation needs and doesn't have. */
function problemOf({ operation, key, keys, values, fields }: Config): Message | null {
  const missing = (setting: string): Message => message('nodes.redis_missing', { setting, operation });
  if (WITH_KEY.includes(operation) && key === '') return missing('key');
  if (operation === 'delete' && keys.length === 0) return missing('keys');
  if (operation === 'list_push' && values.length === 0) return missing('values');
  const needsFields = operation === 'hash_set' || operation === 'stream_add';
  return needsFields && Object.keys(fields).length === 0 ? missing('fields') : null;
}

/** A text that is a JSON object or a list; numbers stay texts, because leading zeros would be lost. */
function readJson(value: JsonValue): JsonValue {
  return typeof value === 'string' && /^\s*[{[]/.test(value) ? (tryParseJson(value) ?? value) : value;
}
