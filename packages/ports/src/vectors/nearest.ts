/** A vector as it is stored. */
export interface StoredVector {
  readonly key: string;
  /** 32-bit numbers in little-endian order, of length 1 together. */
  readonly vector: Buffer;
}

export interface Scored {
  readonly key: string;
  readonly score: number;
}

/** What a search asks for. */
export interface Wanted {
  /** Of length 1. */
  readonly target: Float32Array;
  readonly limit: number;
  readonly minScore: number;
}

/** The vector with length 1, in single precision; null if it has no direction. */
export function toUnitVector(vector: readonly number[]): Float32Array | null {
  // Scaled first: the squares of large numbers would be infinite, those of small ones 0.
  const largest = vector.reduce((most, each) => Math.max(most, Math.abs(each)), 0);
  if (largest === 0 || !Number.isFinite(largest)) return null;
  const scaled = vector.map((each) => each / largest);
  const length = Math.sqrt(scaled.reduce((sum, each) => sum + each * each, 0));
  return Float32Array.from(scaled, (each) => each / length);
}

/**
 * Those nearest to the target, nearest first; of equals, the one that comes first. Every vector is compared, page by page, so the result is
 * exact.
 */
export async function nearest(
  pages: AsyncIterable<readonly StoredVector[]> | readonly (readonly StoredVector[])[],
  { target, limit, minScore }: Wanted,
): Promise<readonly Scored[]> {
  const best: Scored[] = [];
  for await (const page of pages) {
    for (const { key, vector } of page) {
      const score = cosine(target, vector);
      const worst = best.length < limit ? Number.NEGATIVE_INFINITY : (best.at(-1)?.score ?? 0);
      if (score < minScore || score <= worst) continue;
      const at = best.findIndex((each) => each.score < score);
      best.splice(at === -1 ? best.length : at, 0, { key, score });
      if (best.length > limit) best.pop();
    }
  }
  return best;
}

/** Both have length 1, so the cosine is the product; rounding may carry it past 1. */
function cosine(target: Float32Array, stored: Buffer): number {
  const other = floatsOf(stored);
  let sum = 0;
  for (let at = 0; at < target.length; at += 1) sum += (target[at] ?? 0) * (other[at] ?? 0);
  return Math.min(1, Math.max(-1, sum));
}

/** Without a copy where the bytes lie as the machine wants them. */
function floatsOf(bytes: Buffer): Float32Array {
  const isAligned = bytes.byteOffset % 4 === 0;
  const own = isAligned ? bytes : Buffer.from(new Uint8Array(bytes));
  return new Float32Array(own.buffer, own.byteOffset, Math.floor(own.length / 4));
}
