const SEED = 0x9747b28c;
const FACTOR = 0x5bd1e995;

/** The partition of a key as the Java library chooses it, so that messages of a key meet whoever sends them. */
export function partitionOf(key: Buffer, count: number): number {
  return (murmur2(key) & 0x7fffffff) % count;
}

/** The hash MurmurHash2 of 32 bits, with the seed that Kafka uses, as a signed number. */
export function murmur2(bytes: Buffer): number {
  const { length } = bytes;
  let hash = SEED ^ length;
  const whole = length - (length % 4);
  for (let at = 0; at < whole; at += 4) {
    let part = Math.imul(bytes.readInt32LE(at), FACTOR);
    part = Math.imul(part ^ (part >>> 24), FACTOR);
    hash = Math.imul(hash, FACTOR) ^ part;
  }
  if (length > whole) {
    for (let at = length - 1; at >= whole; at -= 1) hash ^= (bytes[at] ?? 0) << (8 * (at - whole));
    hash = Math.imul(hash, FACTOR);
  }
  hash = Math.imul(hash ^ (hash >>> 13), FACTOR);
  return hash ^ (hash >>> 15);
}
