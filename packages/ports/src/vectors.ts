import type { Database, Queryable } from '@millrace/database/database';
import {
  isJsonArray,
  type JsonObject,
  type JsonValue,
  parseJson,
  ServiceError,
  stringifyJson,
  type VectorCollection,
  type VectorFilter,
  type VectorItem,
  type VectorMatch,
  type VectorService,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { inGigabytes } from '@millrace/messages/gigabytes';
import type { Caller } from '@millrace/runtime/node-services';
import { readDataUsage } from './data-store.ts';
import { canHaveIndexes } from './vectors/extension.ts';
import { findIndex, findNear, makeIndex, putEmbeddings } from './vectors/index-store.ts';
import { nearest, type Scored, toUnitVector, type Wanted } from './vectors/nearest.ts';
import {
  INDEX_FACTOR,
  MAX_COMPARED_ITEMS,
  MAX_COMPARED_NUMBERS,
  MIN_INDEXED_NUMBERS,
} from './vectors/sizes.ts';
import {
  addToCount,
  countCollections,
  deleteCollection,
  deleteItems,
  deleteMatching,
  type FilterJson,
  findCollection,
  findSearched,
  keepItems,
  lockCollection,
  makeCollection,
  type Place,
  putItems,
  readItems,
  readVectors,
  type VectorRow,
} from './vectors-store.ts';

const MAX_NAME = 100;
const MAX_KEY = 255;
const MAX_TEXT_BYTES = 128 * 1024;
const MAX_METADATA_BYTES = 16 * 1024;
const MAX_COLLECTIONS = 100;
/** Bytes of vectors read at once: decoding them takes a few milliseconds of the main thread. */
const PAGE_BYTES = 512 * 1024;
const MAX_PAGE_ROWS = 4_096;
/** Candidates from an index, of which the best are kept: more find what half precision, and the steps of the index, would have missed. */
const MIN_CANDIDATES = 100;
const CANDIDATES_PER_RESULT = 4;
/** Deleted by one statement. */
const DELETED_AT_ONCE = 2_000;

export interface VectorServiceDeps {
  readonly db: Database;
  /** Maximum bytes of all data of an organisation, entries of its data store included; 0: no limit. */
  readonly maxBytes: number;
  /** Maximum numbers in a collection without an index; 16,777,216 by default. */
  readonly maxNumbers?: number;
  /** From how many on a collection has an index, where there can be one; 4,194,304 by default. */
  readonly minIndexedNumbers?: number;
  readonly maxCollections?: number;
}

/** Texts with their vectors, in the caller's organisation. */
export function createVectorService(
  deps: VectorServiceDeps,
): (caller: Pick<Caller, 'organisationId'>) => VectorService {
  return ({ organisationId }) => new OrganisationVectors(deps, organisationId);
}

class OrganisationVectors implements VectorService {
  readonly #deps: VectorServiceDeps;
  readonly #organisationId: number;

  constructor(deps: VectorServiceDeps, organisationId: number) {
    this.#deps = deps;
    this.#organisationId = organisationId;
  }

  async describe(collection: string): Promise<VectorCollection | null> {
    const place = this.#place(collection);
    return (await this.#transaction((tx) => findCollection(tx, place))) ?? null;
  }

  async keep(collection: string, items: readonly VectorItem[]): Promise<ReadonlySet<string>> {
    const place = this.#place(collection);
    const columns = columnsOf(items);
    return new Set(
      await this.#transaction(async (tx) => {
        // As whoever puts items does, so that neither waits for the other in turn: changed items count in their collection.
        await lockCollection(tx, place);
        return keepItems(tx, place, columns);
      }),
    );
  }

  async put(
    collection: string,
    about: VectorCollection,
    items: readonly (VectorItem & { readonly vector: readonly number[] })[],
  ): Promise<void> {
    const place = this.#place(collection);
    // A key that is given twice: the last one counts.
    const last = [...new Map(items.map((item) => [item.key, item])).values()];
    const columns = columnsOf(last);
    const vectors = last.map(({ vector }, index) => unitVector(vector, index));
    const wantsIndex = await this.#transaction(async (tx) => {
      const before = await readDataUsage(tx, this.#organisationId);
      await makeCollection(tx, place, about);
      const there = await lockCollection(tx, place);
      // Deleted by another transaction just now.
      if (there === undefined) throw notFound(collection);
      checkSame(collection, there, about);
      const added = await putItems(tx, place, { ...columns, vectors });
      if (added > 0) await addToCount(tx, place, added);
      const items = there.items + added;
      const index = await findIndex(tx, place);
      if (index !== undefined) await putEmbeddings(tx, place, index.id, { keys: columns.keys, vectors });
      const now = { ...about, items, added, isIndexed: index !== undefined };
      await this.#keepLimits(tx, place, now, before.bytes);
      return index === undefined && items * about.dimension >= this.#minIndexedNumbers;
    });
    if (wantsIndex) await this.#makeIndex(place);
  }

  /** By itself, so that it waits for no other writer while its own have to wait for it. If it fails, the indexer makes it later. */
  async #makeIndex(place: Place): Promise<void> {
    const { db } = this.#deps;
    if (!(await canHaveIndexes(db))) return;
    await this.#transaction((tx) => makeIndex(tx, place, this.#minIndexedNumbers)).catch(() => {});
  }

  get #minIndexedNumbers(): number {
    return this.#deps.minIndexedNumbers ?? MIN_INDEXED_NUMBERS;
  }

  async search(
    collection: string,
    query: Parameters<VectorService['search']>[1],
    signal: AbortSignal,
  ): Promise<readonly VectorMatch[]> {
    const place = this.#place(collection);
    const about = await this.#transaction((tx) => findSearched(tx, place));
    if (about === undefined) throw notFound(collection);
    const dimension = query.vector.length;
    checkSame(collection, about, { model: about.model, dimension });
    const target = toUnitVector(query.vector);
    if (target === null) throw zeroVector(0);
    const filter = filterJson(query.filter);
    const wanted = { target, limit: query.limit, minScore: query.minScore ?? -1 };
    const isLarge = about.items * dimension >= this.#minIndexedNumbers / 2;
    const best =
      (isLarge && about.is_indexed ? await this.#nearestByIndex(place, filter, wanted) : null) ??
      (await nearest(this.#pages(place, dimension, filter, signal), wanted));
    const keys = best.map(({ key }) => key);
    const rows = await this.#transaction((tx) => readItems(tx, place, keys));
    const byKey = new Map(rows.map((row) => [row.key, row]));
    // One that was deleted meanwhile is none any more.
    return best.flatMap(({ key, score }) => {
      const row = byKey.get(key);
      return row === undefined
        ? []
        : [{ key, score, text: row.text, metadata: parseJson(row.metadata) as JsonObject }];
    });
  }

  async delete(
    collection: string,
    what: { readonly keys: readonly string[] } | { readonly filter: VectorFilter } | null,
  ): Promise<number> {
    const place = this.#place(collection);
    if (what !== null && 'keys' in what)
      return this.#counting(place, (tx) => deleteItems(tx, place, what.keys));
    const filter = filterJson(what?.filter ?? {});
    let deleted = 0;
    for (;;) {
      // Piece by piece, so that no transaction holds the organisation's counts for long.
      const count = await this.#counting(place, (tx) => deleteMatching(tx, place, filter, DELETED_AT_ONCE));
      deleted += count;
      if (count < DELETED_AT_ONCE) break;
    }
    if (what === null) await this.#transaction((tx) => deleteCollection(tx, place));
    return deleted;
  }

  /**
   * By the index, then in the order of exact scores. Null if the scan ended before it had as many candidates as it should: those that a
   * filter lets through so rarely are soon compared one by one, and none of them is missed then.
   */
  async #nearestByIndex(place: Place, filter: FilterJson, wanted: Wanted): Promise<readonly Scored[] | null> {
    const candidates = Math.max(MIN_CANDIDATES, wanted.limit * CANDIDATES_PER_RESULT);
    const { target } = wanted;
    const rows = await this.#transaction((tx) => findNear(tx, place, { target, filter, candidates }));
    if (rows.length < candidates) return null;
    return nearest([rows], wanted);
  }

  /** Deletes items of a collection, which then has as many fewer. */
  #counting(place: Place, remove: (tx: Queryable) => Promise<number>): Promise<number> {
    return this.#transaction(async (tx) => {
      if ((await lockCollection(tx, place)) === undefined) return 0;
      const count = await remove(tx);
      if (count > 0) await addToCount(tx, place, -count);
      return count;
    });
  }

  /** The vectors in pages, each read when the one before has been compared: other work of the process has its turn in between. */
  async *#pages(
    place: Place,
    dimension: number,
    filter: FilterJson,
    signal: AbortSignal,
  ): AsyncGenerator<readonly VectorRow[]> {
    const limit = Math.min(MAX_PAGE_ROWS, Math.max(1, Math.floor(PAGE_BYTES / (4 * dimension))));
    const order = { filter, limit };
    let after = '';
    for (;;) {
      signal.throwIfAborted();
      const rows = await this.#transaction((tx) => readVectors(tx, place, { ...order, after }));
      yield rows;
      const end = rows.at(-1);
      if (end === undefined || rows.length < limit) return;
      after = end.key;
    }
  }

  async #keepLimits(
    tx: Queryable,
    place: Place,
    {
      dimension,
      items,
      added,
      isIndexed,
    }: {
      readonly dimension: number;
      readonly items: number;
      readonly added: number;
      readonly isIndexed: boolean;
    },
    bytesBefore: number,
  ): Promise<void> {
    const { maxNumbers = MAX_COMPARED_NUMBERS, maxCollections = MAX_COLLECTIONS } = this.#deps;
    if ((await countCollections(tx, this.#organisationId)) > maxCollections) {
      throw new ServiceError('vectors_too_many', message('ports.vectors_too_many', { max: maxCollections }));
    }
    const factor = isIndexed ? INDEX_FACTOR : 1;
    const max = Math.min(MAX_COMPARED_ITEMS * factor, Math.floor((maxNumbers * factor) / dimension));
    // Where an index was lost, there may be more already: those can still be replaced.
    if (items > max && added > 0) {
      const { collection } = place;
      throw new ServiceError('vectors_full', message('ports.vectors_full', { collection, dimension, max }));
    }
    const now = await readDataUsage(tx, this.#organisationId);
    const bytes = now.own_limit ?? this.#deps.maxBytes;
    if (bytes !== 0 && now.bytes > bytes && now.bytes > bytesBefore) {
      throw new ServiceError('data_storage_full', message('ports.data_full', { max: inGigabytes(bytes) }));
    }
  }

  #place(collection: string): Place {
    const length = [...collection].length;
    if (length >= 1 && length <= MAX_NAME && isStorable(collection)) {
      return { organisationId: this.#organisationId, collection };
    }
    throw new ServiceError('vectors_invalid_name', message('ports.vectors_name', { max: MAX_NAME, length }));
  }

  #transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    return this.#deps.db.forOrganisation(this.#organisationId, work);
  }
}

function columnsOf(items: readonly VectorItem[]): {
  readonly keys: string[];
  readonly texts: string[];
  readonly metadata: string[];
} {
  return {
    keys: items.map(({ key }, index) => {
      const length = [...key].length;
      if (length >= 1 && length <= MAX_KEY && isStorable(key)) return key;
      throw new ServiceError('vectors_invalid_item', message('ports.vectors_key', { max: MAX_KEY, index }));
    }),
    texts: items.map(({ text }, index) => {
      if (!isStorable(text))
        throw new ServiceError('vectors_invalid_item', message('ports.vectors_characters', { index }));
      if (Buffer.byteLength(text) <= MAX_TEXT_BYTES) return text;
      throw new ServiceError(
        'vectors_invalid_item',
        message('ports.vectors_text', { max: MAX_TEXT_BYTES, index }),
      );
    }),
    metadata: items.map(({ metadata }, index) => {
      const text = stringifyJson(metadata);
      if (
        Object.values(metadata).every(isPlain) &&
        isStorable(text) &&
        Buffer.byteLength(text) <= MAX_METADATA_BYTES
      )
        return text;
      throw new ServiceError(
        'vectors_invalid_item',
        message('ports.vectors_metadata', { max: MAX_METADATA_BYTES, index }),
      );
    }),
  };
}

/** PostgreSQL's texts have no NUL, and half a character would become another one. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !/\0|\\u0000|\\ud[89a-f]/i.test(text);
}

function isPlain(value: JsonValue): boolean {
  return isScalar(value) || (isJsonArray(value) && value.every(isScalar));
}

function isScalar(value: JsonValue): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function filterJson(filter: VectorFilter): string {
  const list = Object.entries(filter).map(([name, values]) => ({ name, values }));
  return stringifyJson(list);
}

function unitVector(vector: readonly number[], index: number): Buffer {
  const unit = toUnitVector(vector);
  if (unit === null) throw zeroVector(index);
  return Buffer.from(unit.buffer);
}

function checkSame(collection: string, there: VectorCollection, given: VectorCollection): void {
  if (there.model === given.model && there.dimension === given.dimension) return;
  throw new ServiceError(
    'vectors_mismatch',
    message('ports.vectors_mismatch', {
      collection,
      model: there.model,
      dimension: there.dimension,
      other_model: given.model,
      other_dimension: given.dimension,
    }),
  );
}

function notFound(collection: string): ServiceError {
  return new ServiceError('vectors_not_found', message('ports.vectors_not_found', { collection }));
}

function zeroVector(index: number): ServiceError {
  return new ServiceError('vectors_invalid_item', message('ports.vectors_zero', { index }));
}
