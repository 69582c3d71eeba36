import type { JsonObject, JsonValue } from '@millrace/values/json';

/** A text that is found by its meaning. */
export interface VectorItem {
  readonly key: string;
  readonly text: string;
  /** Members are scalars or lists of them: what filters can ask for. */
  readonly metadata: JsonObject;
}

export interface VectorCollection {
  /** The model that made its vectors. */
  readonly model: string;
  /** How many numbers each has. */
  readonly dimension: number;
}

/** By metadata member, the accepted values; null accepts an absent one. */
export type VectorFilter = { readonly [member: string]: readonly JsonValue[] };

export interface VectorMatch extends VectorItem {
  /** The cosine of the angle between the vectors: 1 for the same direction, 0 for unrelated ones. */
  readonly score: number;
}

/** The organisation's texts with their vectors, in collections. Writes may be repeated: they are by key. */
export interface VectorService {
  /** Null if there is no such collection. @throws ServiceError vectors_invalid_name */
  describe(collection: string): Promise<VectorCollection | null>;
  /**
   * Gives items that are stored with the same text their metadata.
   * @returns their keys: these need no new vector
   */
  keep(collection: string, items: readonly VectorItem[]): Promise<ReadonlySet<string>>;
  /**
   * Stores items by their keys, replacing existing ones, and creates the collection if needed.
   * @throws ServiceError vectors_*, data_storage_full
   */
  put(
    collection: string,
    about: VectorCollection,
    items: readonly (VectorItem & { readonly vector: readonly number[] })[],
  ): Promise<void>;
  /**
   * The items nearest to a vector, nearest first. Every vector is compared.
   * @throws ServiceError vectors_not_found, vectors_mismatch
   */
  search(
    collection: string,
    query: {
      readonly vector: readonly number[];
      readonly limit: number;
      readonly filter: VectorFilter;
      /** Absent: any. */
      readonly minScore?: number;
    },
    signal: AbortSignal,
  ): Promise<readonly VectorMatch[]>;
  /** @param what null: the collection itself. @returns how many items were deleted */
  delete(
    collection: string,
    what: { readonly keys: readonly string[] } | { readonly filter: VectorFilter } | null,
  ): Promise<number>;
}
