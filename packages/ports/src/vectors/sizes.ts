/**
 * A search without an index compares every vector of a collection, so this bounds what it reads: 64 MiB, 10,922 vectors of 1,536 numbers. See
 * ADR 0080 for how long that takes.
 */
export const MAX_COMPARED_NUMBERS = 16 * 1024 * 1024;
export const MAX_COMPARED_ITEMS = 50_000;

/** With an index, ten times as much: see ADR 0095. */
export const INDEX_FACTOR = 10;

/** Below this, comparing every vector takes less than half a second, so there is no index: 16 MiB. */
export const MIN_INDEXED_NUMBERS = 4 * 1024 * 1024;

/** The most numbers of a vector that an index of pgvector takes in half precision. */
export const MAX_INDEXED_DIMENSION = 4_000;

/**
 * PostgreSQL looks at every index of a table when it plans a statement for it and adds to it, so there mustn't be any number of them, and no
 * organisation has them all.
 */
export const MAX_INDEXES = 200;
export const MAX_INDEXES_OF_ORGANISATION = 20;
