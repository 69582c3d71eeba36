import { isJsonObject, type JsonObject, type JsonValue, type RedisOrder, textOrJson } from '@millrace/engine';

export const OPERATIONS = [
  'get',
  'set',
  'delete',
  'increment',
  'keys',
  'hash_get',
  'hash_set',
  'list_push',
  'list_pop',
  'publish',
  'stream_add',
] as const;
export type Operation = (typeof OPERATIONS)[number];
export type SetCondition = 'always' | 'if_missing' | 'if_present';

/** The settings from which commands are made. */
export interface Settings {
  readonly operation: Operation;
  readonly key: string;
  readonly keys: readonly string[];
  readonly value: JsonValue;
  readonly values: readonly JsonValue[];
  readonly fields: JsonObject;
  readonly field: string;
  readonly by: number;
  readonly condition: SetCondition;
  readonly expires_in_s: number;
  readonly side: 'left' | 'right';
  readonly count: number;
  readonly max_length: number;
  readonly pattern: string;
  readonly limit: number;
}

const READING: readonly Operation[] = ['get', 'keys', 'hash_get'];

export function isReading(operation: Operation): boolean {
  return READING.includes(operation);
}

/** The commands of an operation; the last one's answer is the node's. */
export function orderOf(settings: Settings, timeoutMs: number): RedisOrder {
  const { operation, pattern, limit } = settings;
  const isReadOnly = isReading(operation);
  if (operation === 'keys') return { commands: [], scan: { match: pattern, limit }, isReadOnly, timeoutMs };
  return { commands: [commandOf(settings)], isReadOnly, timeoutMs };
}

function commandOf(settings: Settings): readonly string[] {
  const { operation, key, keys, value, values, field, by, side, count } = settings;
  switch (operation) {
    case 'set':
      return setCommand(settings);
    case 'delete':
      return ['DEL', ...keys];
    case 'increment':
      return Number.isInteger(by) ? ['INCRBY', key, String(by)] : ['INCRBYFLOAT', key, plainNumber(by)];
    case 'hash_get':
      return field === '' ? ['HGETALL', key] : ['HGET', key, field];
    case 'hash_set':
      return ['HSET', key, ...pairs(settings.fields)];
    case 'list_push':
      return [side === 'left' ? 'LPUSH' : 'RPUSH', key, ...values.map(textOrJson)];
    case 'list_pop':
      return [side === 'left' ? 'LPOP' : 'RPOP', key, String(count)];
    case 'publish':
      return ['PUBLISH', key, textOrJson(value)];
    case 'stream_add':
      return streamCommand(settings);
    default:
      return ['GET', key];
  }
}

function setCommand({ key, value, condition, expires_in_s }: Settings): readonly string[] {
  const when = { always: [], if_missing: ['NX'], if_present: ['XX'] }[condition];
  return [
    'SET',
    key,
    textOrJson(value),
    ...(expires_in_s === 0 ? [] : ['EX', String(expires_in_s)]),
    ...when,
  ];
}

function streamCommand({ key, fields, max_length }: Settings): readonly string[] {
  const bound = max_length === 0 ? [] : ['MAXLEN', '~', String(max_length)];
  return ['XADD', key, ...bound, '*', ...pairs(fields)];
}

function pairs(fields: JsonObject): readonly string[] {
  return Object.entries(fields).flatMap(([name, value]) => [name, textOrJson(value)]);
}

/** Redis reads no exponents here. */
function plainNumber(value: number): string {
  return /e/.test(String(value)) ? value.toFixed(17).replace(/0+$/, '') : String(value);
}

/** What a node puts out for the answers. @param read converts each text */
export function outputOf(
  settings: Settings,
  answer: JsonValue,
  read: (value: JsonValue) => JsonValue,
): JsonObject {
  const { operation, key, field } = settings;
  switch (operation) {
    case 'get':
      return { key, found: answer !== null, value: read(answer) };
    case 'set':
      return { key, written: answer !== null };
    case 'delete':
      return { deleted: answer };
    case 'increment':
      return { key, value: typeof answer === 'string' ? Number(answer) : answer };
    case 'keys': {
      const { keys = [], is_truncated = false } = isJsonObject(answer) ? answer : {};
      return { keys, count: (keys as readonly JsonValue[]).length, is_truncated };
    }
    case 'hash_get':
      if (field !== '') return { key, found: answer !== null, value: read(answer) };
      return hashOf(key, answer, read);
    case 'hash_set':
      return { key, added: answer };
    case 'list_push':
      return { key, length: answer };
    case 'list_pop': {
      const values = (Array.isArray(answer) ? answer : answer === null ? [] : [answer]) as JsonValue[];
      return { key, values: values.map(read), count: values.length };
    }
    case 'publish':
      return { receivers: answer };
    case 'stream_add':
      return { key, id: answer };
  }
}

/** Names and values arrive in turns. */
function hashOf(key: string, answer: JsonValue, read: (value: JsonValue) => JsonValue): JsonObject {
  const list = (Array.isArray(answer) ? answer : []) as JsonValue[];
  const entries: [string, JsonValue][] = [];
  for (let at = 0; at + 1 < list.length; at += 2) {
    entries.push([textOrJson(list[at] ?? ''), read(list[at + 1] ?? null)]);
  }
  return { key, found: entries.length > 0, fields: Object.fromEntries(entries) };
}
