import { isJsonObject, type JsonValue, tryParseJson } from '@millrace/engine';
import { template } from '@millrace/importer-kit/refs';
import { arrayOf, objectOf } from '@millrace/importer-kit/values';
import { message } from '@millrace/messages';
import type { Out } from '../compiler.ts';
import { forItem, type Handlers } from '../handler.ts';
import { asText, type N8nNode, parameterOf, textOf } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';
import { AS_DOCUMENTS, splitDocuments } from './documents.ts';
import { partParam } from './parts.ts';

type Config = { [name: string]: JsonValue };

const STORES =
  'InMemory PGVector Supabase Pinecone Qdrant Milvus Weaviate Zep MongoDBAtlas Redis ChromaDB AzureAISearch'.split(
    ' ',
  );

/** Vector stores; the oldest have a node for each way of use. */
export const VECTORS: Handlers = Object.fromEntries(
  STORES.flatMap((name) => [
    [`vectorStore${name}`, forItem(use)],
    [`vectorStore${name}Insert`, forItem(insert)],
    [`vectorStore${name}Load`, forItem(load)],
  ]),
);

/** Whether a node is a vector store. */
export function isVectorStore({ kind }: N8nNode): boolean {
  return Object.hasOwn(VECTORS, kind);
}

function use(step: Step): readonly Out[] {
  const mode = step.text('mode', 'retrieve');
  if (mode === 'insert') return insert(step);
  if (mode === 'load') return load(step);
  throw new Unmappable(message('import.unknown_operation', { operation: mode }));
}

/** Stores the documents that the loaders read. Each item that follows is a part of one, as in n8n. */
function insert(step: Step): readonly Out[] {
  const collection = collectionOf(step, step.node);
  const isCleared =
    step.raw('clearStore') === true ||
    ['clearNamespace', 'clearIndex', 'clearCollection'].some((name) => step.raw(`options.${name}`) === true);
  const parts = splitDocuments(step);
  const model = embeddingOf(step, step.node);
  if (isCleared)
    step.add('ai.vectors', { operation: 'delete', collection, whole: true }, { suffix: 'clear' });
  for (const [index, each] of parts.entries())
    step.add(
      'ai.vectors',
      { operation: 'put', collection, ...model, items: template(each) },
      index === 0 ? {} : { suffix: String(index + 1) },
    );
  const isRead = step.compiler.started.links.some(({ from }) => from === step.node.name);
  if (!isRead) return [step.one(`nodes.${step.mainId}.output`)];
  const id = step.add(
    'core.code',
    { code: AS_DOCUMENTS, input: { parts: parts.map(template) } },
    { suffix: 'documents' },
  );
  return [step.many(`nodes.${id}.output.result`)];
}

/** Finds texts; each item that follows is one of them. */
function load(step: Step): readonly Out[] {
  const query = step.param('prompt', step.param('query', ''));
  const id = step.add('ai.vectors', searchConfig(step, step.node, query, step.raw('topK')));
  const found = step.add(
    'core.code',
    { code: AS_FOUND, input: { matches: template(`nodes.${id}.output.matches`) } },
    { suffix: 'documents' },
  );
  return [step.many(`nodes.${found}.output.result`)];
}

const AS_FOUND =
  'return input.matches.map(({ text, metadata, score }) => ({ document: { pageContent: text, metadata }, score }));';

/**
 * The settings of a search.
 * @param store the vector store, which may be a part of the node that searches
 * @throws Unmappable
 */
export function searchConfig(
  step: Step,
  store: N8nNode,
  query: JsonValue,
  most: JsonValue | undefined,
): Config {
  const limit = Number(most ?? 4);
  const filter = filterOf(step, store);
  if (store.parameters.useReranker === true) step.compiler.approximate(store, message('import.not_reranked'));
  return {
    operation: 'search',
    collection: collectionOf(step, store),
    ...embeddingOf(step, store),
    query,
    limit: Number.isInteger(limit) && limit >= 1 ? Math.min(limit, 100) : 4,
    ...(Object.keys(filter).length === 0 ? {} : { filter }),
  };
}

/** Where the stores name what texts are kept in. */
const NAMES = [
  'memoryKey',
  'pineconeIndex',
  'qdrantCollection',
  'tableName',
  'milvusCollection',
  'weaviateCollection',
  'chromaCollection',
  'mongoCollection',
  'collectionName',
  'redisIndex',
  'indexName',
] as const;

/** What divides a store further. */
const PARTS = ['options.pineconeNamespace', 'pineconeNamespace', 'options.tenant'] as const;

/** The collection that stands for what a store keeps. */
function collectionOf(step: Step, store: N8nNode): string {
  step.compiler.approximate(store, message('import.vectors_kept_here'));
  const [name = ''] = NAMES.map((each) => asText(partParam(step, store, each))).filter(Boolean);
  const group = objectOf(parameterOf(store, 'options.collection.values'));
  const parts = [
    name === '' ? store.name : name,
    ...PARTS.map((each) => asText(partParam(step, store, each))),
    ...(group.useCollection === true ? [asText(step.value(group.collectionName ?? ''))] : []),
  ];
  const whole = parts.filter(Boolean).join('/');
  return whole.includes('{{') ? whole : whole.slice(0, MAX_NAME);
}

const MAX_NAME = 100;

/** Embeddings that a credential for models can reach, and what each asks for unless it is told otherwise. */
const MODELS: { readonly [kind: string]: string } = {
  embeddingsOpenAi: 'text-embedding-3-small',
  embeddingsAzureOpenAi: 'text-embedding-3-small',
  embeddingsGoogleGemini: 'gemini-embedding-001',
  embeddingsMistralCloud: 'mistral-embed',
  embeddingsOllama: 'nomic-embed-text',
};

/** The model that makes the vectors, with a credential to be chosen. */
function embeddingOf(step: Step, store: N8nNode): Config {
  const [node] = step.compiler.partsOf(store.name, 'ai_embedding');
  if (node === undefined) throw new Unmappable(message('import.no_model'));
  const name = partParam(step, node, 'model') ?? partParam(step, node, 'modelName');
  const plain = typeof name === 'string' ? name.replace(/^models\//, '') : '';
  const isKnown = Object.hasOwn(MODELS, node.kind);
  const dimensions = partParam(step, node, 'options.dimensions');
  step.compiler.approximate(
    node,
    isKnown ? message('import.choose_model_credential') : message('import.other_embedding'),
  );
  return {
    credential_id: 0,
    model: plain === '' || !isKnown ? (MODELS[node.kind] ?? MODELS.embeddingsOpenAi ?? '') : plain,
    ...(typeof dimensions === 'number' && dimensions >= 1 && dimensions <= 4096 ? { dimensions } : {}),
  };
}

/** What metadata must have. @throws Unmappable for a filter that can't be said: without it, texts of others would be found */
function filterOf(step: Step, store: N8nNode): Config {
  const values = arrayOf(parameterOf(store, 'options.metadata.metadataValues')).map(objectOf);
  const filter: Config = Object.fromEntries(
    values.flatMap(({ name, value }) => {
      const known = textOf(name);
      return known === null || known === '__proto__' ? [] : [[known, step.value(value ?? null)] as const];
    }),
  );
  const written = parameterOf(store, 'options.searchFilterJson');
  if (written === undefined || asText(written).replaceAll(/[\s{}]/g, '') === '') return filter;
  const own = typeof written === 'string' ? tryParseJson(written) : written;
  for (const each of arrayOf(own !== undefined && isJsonObject(own) ? own.must : undefined).map(objectOf)) {
    const [key, value] = [textOf(each.key), objectOf(each.match).value];
    if (key === null || value === undefined) throw unknownFilter();
    filter[key.replace(/^metadata\./, '')] = step.value(value);
  }
  const isRead = own !== undefined && isJsonObject(own) && Object.keys(own).every((name) => name === 'must');
  if (!isRead) throw unknownFilter();
  return filter;
}

function unknownFilter(): Unmappable {
  return new Unmappable(message('import.unknown_operation', { operation: 'filter' }));
}

/** A tool by which an agent searches a store; null if the node is none. */
export function vectorTool(
  step: Step,
  node: N8nNode,
): { readonly type: string; readonly config: Config } | null {
  const store = node.kind === 'toolVectorStore' ? storeOf(step, node) : node;
  if (store === undefined || !isVectorStore(store)) return null;
  if (store !== node) step.compiler.approximate(node, message('import.finds_texts'));
  const config = searchConfig(step, store, '{{args.query}}', node.parameters.topK);
  return { type: 'ai.vectors', config };
}

/** The vector store that a retriever or a tool reads. */
export function storeOf(step: Step, { name }: N8nNode): N8nNode | undefined {
  return step.compiler.partsOf(name, 'ai_vectorStore')[0];
}
