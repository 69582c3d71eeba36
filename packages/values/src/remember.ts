/**
 * Puts an entry last into a map that serves as a cache, and takes out the first one if there are more than `most` then. Whoever puts back what it
 * finds keeps what was used last; whoever doesn't, what was made last.
 */
export function remember<Key, Value>(known: Map<Key, Value>, key: Key, value: Value, most: number): void {
  known.delete(key);
  known.set(key, value);
  if (known.size > most) known.delete(known.keys().next().value as Key);
}
