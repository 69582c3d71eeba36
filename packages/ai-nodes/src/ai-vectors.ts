import {
  type CredentialOf,
  type Failure,
  failure,
  type JsonObject,
  type JsonValue,
  type NodeContext,
  type NodeResult,
  success,
  textOrJson,
} from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { choice } from '@millrace/node-kit/choice';
import { credentialProperty } from '@millrace/node-kit/credential-property';
import { checkedNode } from '@millrace/node-kit/define';
import { type Static, Type } from 'typebox';
import { MAX_CALL_TIMEOUT_MS, MODEL_RETRY } from './model/config.ts';
import { batches, dimensionsProperty, embedBatch, embedProperties, unfitText } from './model/embed-texts.ts';
import { exampleCredential } from './model/examples.ts';
import { callProblemOf } from './model/request.ts';
import { type GivenItem, numbersIn, readFilter, readItems } from './vectors/items.ts';

const MAX_ITEMS = 1_000;
const MAX_KEYS = 1_000;

const WITH_MODEL = { operation: ['put', 'search'] };
const WHEN_SEARCH = { operation: ['search'] };

const properties = {
  operation: choice(
    'Operation',
    'What is done with the collection.',
    { put: 'Store texts', search: 'Search', delete: 'Delete' },
    { default: 'search' },
  ),
  collection: Type.String({
    title: 'Collection',
    description: 'The name of a collection of this organisation. Storing makes it.',
    maxLength: 100,
    default: '',
    'x-filled': true,
  }),
  credential_id: Type.Unsafe<number>({
    ...credentialProperty(['ai'], 'Credential', 'The AI provider whose model makes the vectors.'),
    'x-when': WITH_MODEL,
  }),
  model: Type.Unsafe<string>({ ...embedProperties.model, 'x-when': WITH_MODEL }),
  items: Type.Unsafe<JsonValue>({
    type: ['array', 'object', 'string'],
    items: {},
    title: 'Texts to store',
    description:
      'A text, or a list of at most 1,000 texts or objects with text, key, metadata and vector, all optional but the text. A key that is there is replaced; a text that is unchanged keeps its vector.',
    maxItems: MAX_ITEMS,
    default: [],
    'x-filled': true,
    'x-when': { operation: ['put'] },
    'x-code': 'json',
  }),
  query: Type.Unsafe<JsonValue>({
    type: ['string', 'array', 'object', 'number', 'boolean'],
    items: {},
    title: 'Query',
    description: 'What is searched for: a text, or a vector as a list of numbers.',
    default: '',
    'x-filled': true,
    'x-multiline': true,
    'x-when': WHEN_SEARCH,
  }),
  limit: Type.Integer({
    title: 'Maximum results',
    description: 'How many texts are returned at most, the nearest first.',
    minimum: 1,
    maximum: 100,
    default: 5,
    'x-when': WHEN_SEARCH,
  }),
  min_score: Type.Union([Type.Number({ minimum: -1, maximum: 1 }), Type.Null()], {
    title: 'Minimum score',
    description:
      'Results below this are left out. The score is 1 for the same meaning and near 0 for unrelated texts; what is good differs by model. Empty: no minimum.',
    default: null,
    'x-when': WHEN_SEARCH,
  }),
  filter: Type.Unsafe<JsonObject>({
    type: 'object',
    title: 'Metadata filter',
    description:
      'By member of the metadata, the value that it must have, or a list of which one must fit. Empty: all texts.',
    default: {},
    'x-code': 'json',
    'x-when': { operation: ['search', 'delete'] },
  }),
  keys: Type.Array(Type.String({ title: 'Key', description: 'The key of a stored text.', default: '' }), {
    title: 'Keys',
    description: 'The texts to delete. Empty: those that match the filter.',
    maxItems: MAX_KEYS,
    default: [],
    'x-when': { operation: ['delete'] },
  }),
  whole: Type.Boolean({
    title: 'Delete the collection',
    description: 'Deletes the whole collection with all its texts. Needed to use another model for it.',
    default: false,
    'x-when': { operation: ['delete'] },
  }),
  dimensions: dimensionsProperty({ 'x-when': WITH_MODEL }),
  timeout_ms: Type.Unsafe<number>({ ...embedProperties.timeout_ms, 'x-when': WITH_MODEL }),
};

type Config = Static<ReturnType<typeof Type.Object<typeof properties>>>;

export const aiVectors = checkedNode({
  type: 'ai.vectors',
  title: 'Vector store',
  description:
    'Stores texts of this organisation with their vectors and finds those whose meaning is nearest to a query. As a tool, it lets an agent search them. Tokens are counted. In test mode, nothing is sent, stored or deleted.',
  icon: 'waypoints',
  kind: 'effect',
  properties,
  required: ['operation', 'collection'],
  defaultTimeoutMs: MAX_CALL_TIMEOUT_MS + 10_000,
  defaultRetry: MODEL_RETRY,
  form: {
    main: [
      'operation',
      'collection',
      'credential_id',
      'model',
      'items',
      'query',
      'limit',
      'filter',
      'keys',
      'whole',
    ],
    sections: [{ title: 'Size and limits', fields: ['min_score', 'dimensions', 'timeout_ms'] }],
  },
  synonyms: [
    'vector',
    'vectors',
    'embeddings',
    'rag',
    'retrieval',
    'semantic search',
    'knowledge base',
    'similarity',
    'pinecone',
    'qdrant',
    'pgvector',
  ],
  examples: [
    {
      title: 'Store parts of a manual',
      config: {
        operation: 'put',
        collection: 'manuals',
        credential_id: 1,
        model: 'text-embedding-3-small',
        items: [
          { key: 'a17/1', text: 'Grease it twice a year.', metadata: { product: 'A-17' } },
          { key: 'a17/2', text: '{{trigger.data.text}}', metadata: { product: 'A-17' } },
        ],
      },
      trigger: { text: 'The belt lasts for 5,000 hours.' },
      credential: exampleCredential('openai_compatible'),
      expect: {
        output: {
          collection: 'manuals',
          stored: 2,
          unchanged: 0,
          usage: { input_tokens: 11, output_tokens: 0, total_tokens: 11 },
          model: 'text-embedding-3-small',
        },
        consumedAiTokens: 11,
      },
    },
    {
      title: 'Search a collection that is not there yet',
      config: {
        operation: 'search',
        collection: 'manuals',
        credential_id: 1,
        model: 'text-embedding-3-small',
        query: 'How often is it greased?',
        filter: { product: 'A-17' },
        limit: 3,
      },
      credential: exampleCredential('openai_compatible'),
      expect: { failure: { code: 'vectors_not_found' } },
    },
    {
      title: 'Delete what was said about a product',
      config: { operation: 'delete', collection: 'manuals', filter: { product: 'A-17' } },
      expect: { output: { collection: 'manuals', deleted: 0 } },
    },
  ],
  run(config, context) {
    switch (config.operation) {
      case 'put':
        return put(config, context);
      case 'search':
        return search(config, context);
      case 'delete':
        return remove(config, context);
    }
  },
});

async function put(config: Config, context: NodeContext): Promise<NodeResult> {
  const items = await readItems(config.items);
  if ('key' in items) return invalid(items);
  if (items.length === 0 || items.length > MAX_ITEMS) {
    return invalid(message('nodes.items_to_store', { max: MAX_ITEMS }));
  }
  const needsModel = items.some(({ vector }) => vector === null);
  const problem = needsModel ? callProblemOf(config) : undefined;
  if (problem !== undefined) return invalid(problem);
  const unfit = unfitText(items.map(({ text, vector }) => (vector === null ? text : '-')));
  if (unfit !== undefined) return unfit;
  const { collection, model } = config;
  if (context.execution.isTestMode) {
    const shown = items.map(({ key, text, metadata }) => ({ key, text, metadata }));
    return success({ dry_run: true, request: { operation: 'put', collection, model, items: shown } });
  }
  const there = await context.vectors.describe(collection);
  if (there !== null && there.model !== model) return otherModel(collection, there.model, model);
  const credential = needsModel
    ? await context.credentials.open(config.credential_id, { types: ['ai'] })
    : null;
  const progress = { stored: 0, unchanged: 0, consumed: 0 };
  for (const batch of batches(items, ({ text, vector }) => (vector === null ? text.length : 0))) {
    const failed = await putBatch(config, batch, credential, context, progress);
    if (failed !== undefined) return failed;
  }
  const { stored, unchanged, consumed } = progress;
  return success(
    { collection, stored, unchanged, usage: usageOf(consumed), model },
    { consumedAiTokens: consumed },
  );
}

/** Stores one batch. What was stored stays when a later one fails; the next attempt finds it unchanged. */
async function putBatch(
  config: Config,
  batch: readonly GivenItem[],
  credential: CredentialOf<'ai'> | null,
  context: NodeContext,
  progress: { stored: number; unchanged: number; consumed: number },
): Promise<Failure | undefined> {
  const { collection, model } = config;
  const toEmbed = batch.filter(({ vector }) => vector === null);
  const kept =
    toEmbed.length === 0
      ? new Set<string>()
      : await context.vectors.keep(collection, toEmbed.map(withoutVector));
  const missing = toEmbed.filter(({ key }) => !kept.has(key));
  const made = new Map<string, readonly number[]>();
  if (missing.length > 0 && credential !== null) {
    const texts = missing.map(({ text }) => text);
    const place = { credential, context, consumed: progress.consumed };
    const embedded = await embedBatch(config, texts, 'document', place);
    if (embedded.kind === 'failure') return embedded;
    progress.consumed += embedded.tokens;
    for (const [index, { key }] of missing.entries()) made.set(key, embedded.vectors[index] ?? []);
  }
  const ready = batch.flatMap((item) => {
    const vector = item.vector ?? made.get(item.key);
    return vector === undefined ? [] : [{ ...withoutVector(item), vector }];
  });
  for (const [dimension, group] of byDimension(ready)) {
    await context.vectors.put(collection, { model, dimension }, group);
  }
  progress.stored += ready.length;
  progress.unchanged += batch.length - ready.length;
  return undefined;
}

function withoutVector({ key, text, metadata }: GivenItem) {
  return { key, text, metadata };
}

/** A collection has one length of vectors, so the second group is refused with the reason. */
function byDimension<Item extends { readonly vector: readonly number[] }>(
  items: readonly Item[],
): ReadonlyMap<number, readonly Item[]> {
  return Map.groupBy(items, ({ vector }) => vector.length);
}

async function search(config: Config, context: NodeContext): Promise<NodeResult> {
  const { collection, model, limit, min_score: minScore } = config;
  const filter = readFilter(config.filter);
  if (filter === undefined) return invalid(message('nodes.wrong_filter'));
  const own = numbersIn(config.query);
  const text = textOrJson(config.query);
  const problem = own === undefined ? callProblemOf(config) : undefined;
  if (problem !== undefined) return invalid(problem);
  if (text.trim() === '') return invalid(message('nodes.no_query'));
  if (context.execution.isTestMode) {
    const { query } = config;
    return success({ dry_run: true, request: { operation: 'search', collection, model, query, limit } });
  }
  // Before anything is paid for.
  const there = await context.vectors.describe(collection);
  if (there === null) return failure('vectors_not_found', message('nodes.no_collection', { collection }));
  if (own === undefined && there.model !== model) return otherModel(collection, there.model, model);
  let vector = own;
  let consumed = 0;
  if (vector === undefined) {
    const credential = await context.credentials.open(config.credential_id, { types: ['ai'] });
    const made = await embedBatch(config, [text], 'query', { credential, context, consumed });
    if (made.kind === 'failure') return made;
    [vector = []] = made.vectors;
    consumed = made.tokens;
  }
  const query = { vector, limit, filter, ...(minScore === null ? {} : { minScore }) };
  const matches = await context.vectors.search(collection, query, context.signal);
  return success(
    {
      collection,
      matches: matches.map(({ key, score, text: found, metadata }) => ({
        key,
        score,
        text: found,
        metadata,
      })),
      count: matches.length,
      usage: usageOf(consumed),
    },
    { consumedAiTokens: consumed },
  );
}

async function remove(config: Config, context: NodeContext): Promise<NodeResult> {
  const { collection, keys, whole } = config;
  const filter = readFilter(config.filter);
  if (filter === undefined) return invalid(message('nodes.wrong_filter'));
  const isFiltered = Object.keys(filter).length > 0;
  const given = [keys.length > 0, isFiltered, whole].filter(Boolean).length;
  // An empty filter would match everything: that has to be said.
  if (given !== 1) return invalid(message('nodes.what_to_delete'));
  const what = whole ? null : isFiltered ? { filter } : { keys };
  if (context.execution.isTestMode) {
    const request = { operation: 'delete', collection, keys, filter: config.filter, whole };
    return success({ dry_run: true, request });
  }
  return success({ collection, deleted: await context.vectors.delete(collection, what) });
}

function usageOf(tokens: number): JsonObject {
  return { input_tokens: tokens, output_tokens: 0, total_tokens: tokens };
}

function invalid(problem: Message): Failure {
  return failure('invalid_config', problem);
}

function otherModel(collection: string, model: string, given: string): Failure {
  return failure('vectors_mismatch', message('nodes.other_model', { collection, model, given }));
}
