/** The reflected polynomial of Castagnoli; zlib's checksum uses another one. */
const POLYNOMIAL = 0x82f63b78;

const TABLE = Int32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = (value >>> 1) ^ ((value & 1) === 0 ? 0 : POLYNOMIAL);
  return value;
});

/** The checksum that brokers demand of a batch (CRC-32C), as a signed number. */
export function crc32c(bytes: Uint8Array): number {
  let value = -1;
  for (const byte of bytes) value = (value >>> 8) ^ (TABLE[(value ^ byte) & 0xff] ?? 0);
  return ~value;
}
