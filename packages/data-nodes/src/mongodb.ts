import {
  failure,
  type JsonObject,
  type JsonValue,
  type MongoOrder,
  type NodeContext,
  success,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { credentialProperty, noCredential } from '@millrace/node-kit/credential-property';
import { checkedNode } from '@millrace/node-kit/define';
import { type Static, type TObject, Type } from 'typebox';
import { fillIn, objectIn, objectsIn, QueryProblem, writingStage } from './mongodb-query.ts';
import { attemptLimitMs, timeoutProperty } from './timeout.ts';

const OPERATIONS = ['find', 'aggregate', 'count', 'insert', 'update', 'delete'] as const;
type Operation = (typeof OPERATIONS)[number];
const MAX_TIMEOUT_MS = 300_000;
const QUERYING: readonly Operation[] = ['find', 'count', 'update', 'delete'];

const object = (title: string, description: string, operations: readonly Operation[]) =>
  Type.Unsafe<JsonObject>({
    type: 'object',
    title,
    description,
    'x-code': 'json',
    'x-when': { operation: operations },
    default: {},
  });

const properties = {
  credential_id: {
    ...credentialProperty(['sql'], 'Credential', 'A MongoDB server and the account to sign in with.'),
    'x-dialects': ['mongodb'],
  },
  operation: Type.Unsafe<Operation>({
    type: 'string',
    enum: OPERATIONS,
    title: 'Operation',
    description: 'What is done with the documents of the collection.',
    default: 'find',
    'x-labels': {
      find: 'Find documents',
      aggregate: 'Aggregate',
      count: 'Count documents',
      insert: 'Insert documents',
      update: 'Update documents',
      delete: 'Delete documents',
    },
  }),
  collection: Type.String({
    title: 'Collection',
    description: 'Its name.',
    default: '',
    'x-filled': true,
    maxLength: 255,
  }),
  filter: object(
    'Filter',
    'Which documents, in the query language of MongoDB, such as {"email": "{{trigger.data.email}}", "age": {"$gte": 18}}. A template gives a value, never an operator. Empty: all, except to delete.',
    QUERYING,
  ),
  pipeline: Type.Unsafe<readonly JsonObject[]>({
    type: 'array',
    title: 'Pipeline',
    description:
      'The stages, such as [{"$match": {"paid": true}}, {"$group": {"_id": "$country", "sum": {"$sum": "$total"}}}].',
    'x-code': 'json',
    'x-when': { operation: ['aggregate'] },
    default: [],
    maxItems: 100,
  }),
  documents: Type.Unsafe<readonly JsonObject[]>({
    type: 'array',
    title: 'Documents',
    description: 'What is inserted, in this order, until one is refused. Without _id, one is made.',
    'x-when': { operation: ['insert'] },
    default: [],
    maxItems: 1_000,
  }),
  update: object(
    'Update',
    'What changes, such as {"$set": {"status": "{{trigger.data.status}}"}}; without operators, the whole document.',
    ['update'],
  ),
  many: Type.Boolean({
    title: 'All that match',
    description: 'Otherwise the first document only.',
    'x-when': { operation: ['update', 'delete'] },
    default: false,
  }),
  upsert: Type.Boolean({
    title: 'Insert if missing',
    description: 'Inserts a document if none matches.',
    'x-when': { operation: ['update'] },
    default: false,
  }),
  projection: object('Fields', 'Which fields are read, such as {"name": 1}. Empty: all.', ['find']),
  sort: object('Sort by', 'Such as {"created_at": -1} for the newest first.', ['find']),
  skip: Type.Integer({
    title: 'Skip',
    description: 'How many documents are left out at the start.',
    'x-when': { operation: ['find'] },
    minimum: 0,
    maximum: 1_000_000_000,
    default: 0,
  }),
  limit: Type.Integer({
    title: 'Limit',
    description: 'The maximum number of documents; if there are more, is_truncated is true.',
    'x-when': { operation: ['find', 'aggregate'] },
    minimum: 1,
    maximum: 10_000,
    default: 100,
  }),
  read_only: Type.Boolean({
    title: 'Read-only',
    description: 'Refuses stages that write. Turn this off for $out and $merge.',
    'x-when': { operation: ['aggregate'] },
    default: true,
  }),
  timeout_ms: timeoutProperty(MAX_TIMEOUT_MS, {
    description: 'After how many milliseconds the server or the connection is stopped.',
    defaultMs: 30_000,
  }),
};

type Config = Static<TObject<typeof properties>>;

export const mongodb = checkedNode({
  type: 'data.mongodb',
  title: 'MongoDB',
  description:
    'Finds, counts, inserts, updates and deletes documents of a MongoDB server. Ids and moments are extended JSON: {"$oid": "..."} and {"$date": "2026-01-02T03:04:05Z"}.',
  icon: 'database',
  kind: 'effect',
  properties,
  required: ['credential_id', 'operation', 'collection'],
  // Filled in by the node, which sees what comes from data.
  deferred: { filter: 'arguments', pipeline: 'arguments', update: 'arguments' },
  defaultTimeoutMs: attemptLimitMs(MAX_TIMEOUT_MS),
  form: {
    main: [
      'credential_id',
      'operation',
      'collection',
      'filter',
      'pipeline',
      'documents',
      'update',
      'many',
      'upsert',
      'projection',
      'sort',
      'read_only',
    ],
    sections: [{ title: 'Limits', fields: ['skip', 'limit', 'timeout_ms'] }],
  },
  synonyms: ['mongo', 'database', 'nosql', 'documents', 'collection', 'aggregate', 'find', 'insert'],
  examples: [
    {
      title: 'Look up a customer by e-mail',
      config: {
        credential_id: 2,
        operation: 'find',
        collection: 'customers',
        filter: { email: '{{trigger.data.email}}' },
        limit: 1,
      },
      trigger: { email: 'ada@example.org' },
      credential: {
        type: 'sql',
        dialect: 'mongodb',
        host: 'mongo.example.com',
        port: 27_017,
        database: 'shop',
        username: 'reader',
        password: 'your-password',
        tls: 'verify',
      },
      mongodb: {
        documents: [{ _id: { $oid: '65a1b2c3d4e5f60718293a4b' }, name: 'Ada' }],
        is_truncated: false,
      },
      expect: {
        output: {
          documents: [{ _id: { $oid: '65a1b2c3d4e5f60718293a4b' }, name: 'Ada' }],
          count: 1,
          is_truncated: false,
        },
      },
    },
  ],
  async run(config, context) {
    if (config.credential_id === 0) return failure('invalid_config', noCredential('credential_id', ['sql']));
    try {
      const order = orderOf(config, context);
      if (context.execution.isTestMode && !order.readOnly) {
        const { collection, command } = order;
        return success({ dry_run: true, request: { collection, ...command } });
      }
      const credential = await context.credentials.open(config.credential_id, { types: ['sql'] });
      const answer = await context.mongodb.run(credential, order, context.signal);
      const { documents } = answer;
      return success(
        Array.isArray(documents)
          ? { documents, count: documents.length, is_truncated: answer.is_truncated ?? false }
          : answer,
      );
    } catch (error) {
      if (error instanceof QueryProblem) return failure('invalid_config', error.explanation);
      throw error;
    }
  },
});

/** @throws QueryProblem */
function orderOf(config: Config, context: Pick<NodeContext, 'render'>): MongoOrder {
  const { operation, collection, timeout_ms: timeoutMs } = config;
  const missing = (setting: string): never => {
    throw new QueryProblem(message('nodes.mongodb_missing', { operation, setting }));
  };
  if (collection === '') missing('collection');
  const fill = (setting: 'filter' | 'pipeline' | 'update', fallback: JsonValue): JsonValue =>
    fillIn(config[setting] ?? fallback, (text) => context.render(text, {}), setting);
  const filter = (): JsonObject => objectIn(fill('filter', {}), 'filter');
  const order = (command: MongoOrder['command'], readOnly: boolean): MongoOrder => ({
    collection,
    command,
    readOnly,
    timeoutMs,
  });
  switch (operation) {
    case 'find': {
      const { projection, sort, skip, limit } = config;
      return order({ kind: 'find', filter: filter(), projection, sort, skip, limit }, true);
    }
    case 'count':
      return order({ kind: 'count', filter: filter() }, true);
    case 'aggregate': {
      const pipeline = objectsIn(fill('pipeline', []), 'pipeline');
      const writes = writingStage([...pipeline]);
      if (writes !== null && config.read_only) {
        throw new QueryProblem(message('nodes.mongodb_writes', { operator: writes }));
      }
      return order({ kind: 'aggregate', pipeline, limit: config.limit }, writes === null);
    }
    case 'insert': {
      const documents = objectsIn([...config.documents], 'documents');
      if (documents.length === 0) missing('documents');
      return order({ kind: 'insert', documents }, false);
    }
    case 'update': {
      const update = objectIn(fill('update', {}), 'update');
      if (Object.keys(update).length === 0) missing('update');
      const isWhole = !Object.keys(update).some((name) => name.startsWith('$'));
      return order(
        {
          kind: 'update',
          filter: filter(),
          update,
          isMany: config.many && !isWhole,
          isUpsert: config.upsert,
        },
        false,
      );
    }
    case 'delete': {
      const which = filter();
      // Everything must be asked for: a filter that was forgotten would delete it as well.
      if (Object.keys(which).length === 0) missing('filter');
      return order({ kind: 'delete', filter: which, isMany: config.many }, false);
    }
  }
}
