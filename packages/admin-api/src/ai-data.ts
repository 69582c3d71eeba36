import { type Static, Type } from 'typebox';
import { Memory } from './chats.ts';
import type { Endpoints } from './endpoint.ts';
import { AnyObject, Closed, Id, PageOf, pageQuery, Timestamp } from './forms.ts';

const Count = Type.Integer({ minimum: 0 });
const CollectionName = Type.String({ minLength: 1, maxLength: 200 });
const Key = Type.String({ minLength: 1, maxLength: 255 });
const search = { search: Type.Optional(Type.String({ maxLength: 200 })) };

/**
 * How a collection is searched: by an index (`ready`), or by comparing every vector, and then why: its index is being filled (`building`) or
 * about to be (`waiting`), or it has none, because it is small, the database has no pgvector, its vectors are too long, or there are enough
 * indexes.
 */
export const VectorIndexState = Type.Enum(
  ['ready', 'building', 'waiting', 'small', 'no_pgvector', 'too_long', 'enough'],
  { type: 'string' },
);
export type VectorIndexState = Static<typeof VectorIndexState>;

/** Texts with their vectors. */
export const VectorCollection = Closed({
  name: Type.String(),
  model: Type.String(),
  dimension: Count,
  items: Count,
  bytes: Count,
  index: VectorIndexState,
  /** Items that are in an index that is being filled; at most `items`. */
  indexed: Count,
  /** When something in it was last written or deleted. */
  updated_at: Timestamp,
});
export type VectorCollection = Static<typeof VectorCollection>;

export const VectorItem = Closed({
  key: Type.String(),
  /** Its beginning, if `is_cut`. */
  text: Type.String(),
  is_cut: Type.Boolean(),
  metadata: AnyObject,
  bytes: Count,
  updated_at: Timestamp,
});
export type VectorItem = Static<typeof VectorItem>;

/** What models remember of a conversation, with its workflow. */
export const WorkflowMemory = Closed({
  ...Memory.properties,
  workflow: Closed({ id: Id, name: Type.String() }),
});
export type WorkflowMemory = Static<typeof WorkflowMemory>;

export const AI_DATA_ENDPOINTS = {
  'GET /orgs/:org/vector-collections': {
    access: 'viewer',
    summary: 'Collections of texts with their vectors, by name; 100 at most',
    response: Closed({ items: Type.Array(VectorCollection) }),
  },
  'POST /orgs/:org/vector-collections/delete': {
    access: 'editor',
    summary: 'Delete a collection with everything in it',
    body: Closed({ name: CollectionName }),
    response: Closed({ deleted: Count }),
  },
  'GET /orgs/:org/vector-items': {
    access: 'viewer',
    summary: 'What is in a collection, by key. With a search, a page may be short although others follow',
    query: Closed({ collection: CollectionName, ...search, ...pageQuery }),
    response: PageOf(VectorItem),
    isExact: true,
  },
  'GET /orgs/:org/vector-items/text': {
    access: 'viewer',
    summary: 'The whole text of an item',
    query: Closed({ collection: CollectionName, key: Key }),
    response: Closed({ text: Type.String() }),
  },
  'POST /orgs/:org/vector-items/delete': {
    access: 'editor',
    summary: 'Delete an item of a collection',
    body: Closed({ collection: CollectionName, key: Key }),
    response: Closed({ deleted: Count }),
  },
  'GET /orgs/:org/memories': {
    access: 'viewer',
    summary: 'What models remember of conversations in all workflows, the one used last first',
    query: Closed({ ...search, ...pageQuery }),
    response: PageOf(WorkflowMemory),
  },
  'GET /orgs/:org/workflows/:id/memories/turns': {
    access: 'viewer',
    summary: 'What models remember of one conversation',
    query: Closed({ key: Key }),
    response: Closed({
      /** Of what came before the turns; empty if there is none. */
      summary: Type.String(),
      turns: Type.Array(Closed({ user: Type.String(), assistant: Type.String() })),
    }),
  },
} as const satisfies Endpoints;
