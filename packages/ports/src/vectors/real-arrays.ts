const FLOAT4_OID = 700;
const HEADER_BYTES = 28;
const ELEMENT_BYTES = 4;

/**
 * Vectors as a `real[][]` in PostgreSQL's binary format: one after the other in text, numbers would take three times as many bytes, and on
 * either side the time to write and read them.
 * @param vectors of one length, as 32-bit numbers in little-endian order
 */
export function toRealArrays(vectors: readonly Buffer[]): Buffer {
  const numbers = (vectors[0]?.length ?? 0) / ELEMENT_BYTES;
  const array = Buffer.allocUnsafe(HEADER_BYTES + vectors.length * numbers * 2 * ELEMENT_BYTES);
  const header = [2, 0, FLOAT4_OID, vectors.length, 1, numbers, 1];
  for (const [at, value] of header.entries()) array.writeInt32BE(value, at * 4);
  let to = HEADER_BYTES;
  for (const vector of vectors) {
    for (let from = 0; from < vector.length; from += ELEMENT_BYTES) {
      array.writeInt32BE(ELEMENT_BYTES, to);
      array.writeUInt32BE(vector.readUInt32LE(from), to + ELEMENT_BYTES);
      to += 2 * ELEMENT_BYTES;
    }
  }
  return array;
}
