import {
  type DataEntry,
  type DataService,
  failure,
  type JsonObject,
  type JsonValue,
  type NodeResult,
  success,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { checkedNode } from '@millrace/node-kit/define';
import { type Static, type TObject, Type } from 'typebox';

const OPERATIONS = ['get', 'set', 'increment', 'delete', 'list'] as const;
type Operation = (typeof OPERATIONS)[number];
const TEN_YEARS_S = 10 * 366 * 86_400;

const properties = {
  operation: Type.Unsafe<Operation>({
    type: 'string',
    enum: OPERATIONS,
    title: 'Operation',
    description:
      'Get reads an entry, and Set writes one. Increment adds to a number and is safe to use concurrently. Delete removes an entry. List reads all entries whose key starts with a prefix.',
    default: 'get',
    'x-labels': { get: 'Get', set: 'Set', increment: 'Increment', delete: 'Delete', list: 'List' },
  }),
  key: Type.String({
    title: 'Key',
    'x-when': { operation: ['get', 'set', 'increment', 'delete'] },
    description:
      'The name of the entry, 1 to 255 characters. All workflows of the organisation share the entries.',
    default: '',
    'x-filled': true,
  }),
  value: Type.Unsafe<JsonValue>({
    title: 'Value',
    'x-when': { operation: ['set'] },
    description: 'The value for set: any JSON value up to 1 MiB.',
    default: null,
  }),
  by: Type.Number({
    title: 'By',
    'x-when': { operation: ['increment'] },
    description: 'How much increment adds; negative to count down. A missing entry counts as 0.',
    default: 1,
  }),
  only_if_absent: Type.Boolean({
    title: 'Only if missing',
    'x-when': { operation: ['set'] },
    description: "set doesn't overwrite an existing entry; output.written says whether it wrote.",
    default: false,
  }),
  expires_in_s: Type.Integer({
    title: 'Expires in',
    'x-when': { operation: ['set', 'increment'] },
    description:
      'After how many seconds the entry expires; 0 for never. increment applies it only to a new entry, so a counter expires on time however often it is incremented.',
    minimum: 0,
    maximum: TEN_YEARS_S,
    default: 0,
  }),
  prefix: Type.String({
    title: 'Prefix',
    'x-when': { operation: ['list'] },
    description: 'list reads the entries whose keys start with this. Empty: all.',
    default: '',
  }),
  limit: Type.Integer({
    title: 'Limit',
    'x-when': { operation: ['list'] },
    description: 'The maximum number of entries that list reads.',
    minimum: 1,
    maximum: 1000,
    default: 100,
  }),
};

type Config = Static<TObject<typeof properties>>;

export const dataStore = checkedNode({
  type: 'data.store',
  title: 'Data store',
  description:
    'Keeps values between executions in a small table of the organisation: counters, the last ID seen, what is already done. A write happens exactly once, even if its node runs again. An organisation can have up to 100,000 entries.',
  icon: 'database',
  kind: 'effect',
  properties,
  required: ['operation'],
  form: { main: ['operation', 'key', 'prefix', 'value', 'by', 'only_if_absent', 'expires_in_s', 'limit'] },
  synonyms: [
    'storage',
    'key value',
    'cache',
    'redis',
    'state',
    'counter',
    'remember',
    'database',
    'variable',
  ],
  examples: [
    {
      title: 'Count per day',
      config: { operation: 'increment', key: 'orders/{{trigger.data.day}}', expires_in_s: 172_800 },
      trigger: { day: '2026-01-01' },
      expect: {
        output: { key: 'orders/2026-01-01', value: 1, expires_at: '2026-01-03T00:00:00.000Z' },
      },
    },
    {
      title: 'Do something once per order',
      config: {
        operation: 'set',
        key: 'invoiced/{{trigger.data.id}}',
        value: true,
        only_if_absent: true,
      },
      trigger: { id: 17 },
      expect: { output: { key: 'invoiced/17', value: true, expires_at: null, written: true } },
    },
    {
      title: 'Read an entry that may be missing',
      config: { operation: 'get', key: 'sync/cursor' },
      expect: { output: { key: 'sync/cursor', found: false, value: null, expires_at: null } },
    },
  ],
  async run(config, context) {
    if (config.operation !== 'list' && config.key === '') {
      return failure('invalid_config', message('nodes.no_key', { operation: config.operation }));
    }
    if (context.execution.isTestMode && isWrite(config.operation)) {
      return success({ dry_run: true, request: describeWrite(config) });
    }
    return perform(config, context.data);
  },
});

async function perform(config: Config, data: DataService): Promise<NodeResult> {
  const { key } = config;
  switch (config.operation) {
    case 'get': {
      const entry = await data.get(key);
      const shown = show(entry ?? { key, value: null, expiresAtMs: null });
      return success({ ...shown, found: entry !== null });
    }
    case 'set': {
      const options = { ttlMs: ttlMs(config), ifAbsent: config.only_if_absent };
      const { entry, isWritten } = await data.set(key, config.value, options);
      return success({ ...show(entry), written: isWritten });
    }
    case 'increment':
      return success(show(await data.increment(key, config.by, { ttlMs: ttlMs(config) })));
    case 'delete':
      return success({ key, deleted: await data.delete(key) });
    case 'list': {
      const entries = await data.list(config.prefix, config.limit);
      return success({ entries: entries.map(show), count: entries.length });
    }
  }
}

function isWrite(operation: Operation): boolean {
  return operation !== 'get' && operation !== 'list';
}

/** Shown in test mode: the write with its relevant settings. */
function describeWrite(config: Config): JsonObject {
  const { operation, key, expires_in_s, only_if_absent } = config;
  switch (operation) {
    case 'set':
      return { operation, key, value: config.value, only_if_absent, expires_in_s };
    case 'increment':
      return { operation, key, by: config.by, expires_in_s };
    default:
      return { operation, key };
  }
}

function ttlMs(config: Config): number | null {
  return config.expires_in_s === 0 ? null : config.expires_in_s * 1000;
}

function show({ key, value, expiresAtMs }: DataEntry): JsonObject {
  return { key, value, expires_at: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString() };
}
