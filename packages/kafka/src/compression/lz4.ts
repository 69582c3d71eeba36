import { broken, repeat, tooLarge } from './snappy.ts';

const MAGIC = 0x184d2204;
const FIRST_BYTES = 64 * 1024;

/** Decompresses a frame of LZ4; yields after each block, which has 4 MiB at most. @throws KafkaProtocolError */
export function* decodeLz4(bytes: Buffer, maxBytes: number): Generator<void, Buffer> {
  if (bytes.length < 7 || bytes.readUInt32LE(0) !== MAGIC) throw broken();
  const flags = bytes[4] ?? 0;
  const hasBlockChecksums = (flags & 0x10) !== 0;
  // Content size, id of a dictionary, and the checksum of the header; checksums are TCP's concern.
  let at = 7 + ((flags & 0x08) !== 0 ? 8 : 0) + ((flags & 0x01) !== 0 ? 4 : 0);
  let output: Output = { bytes: Buffer.alloc(Math.min(FIRST_BYTES, maxBytes)), written: 0 };
  for (;;) {
    if (at + 4 > bytes.length) throw broken();
    const word = bytes.readUInt32LE(at);
    at += 4;
    if (word === 0) break;
    const size = word & 0x7fffffff;
    if (at + size > bytes.length) throw broken();
    const block = bytes.subarray(at, at + size);
    if ((word & 0x80000000) !== 0) {
      output = withRoom(output, size, maxBytes);
      block.copy(output.bytes, output.written);
      output.written += size;
    } else {
      output = decodeBlock(block, output, maxBytes);
    }
    at += size + (hasBlockChecksums ? 4 : 0);
    yield;
  }
  return output.bytes.subarray(0, output.written);
}

/** Blocks may refer to what earlier ones said. */
interface Output {
  readonly bytes: Buffer;
  written: number;
}

function decodeBlock(block: Buffer, before: Output, maxBytes: number): Output {
  let output = before;
  let at = 0;
  const longer = (short: number): number => {
    let length = short;
    if (short !== 15) return length;
    for (;;) {
      const byte = block[at];
      if (byte === undefined) throw broken();
      at += 1;
      length += byte;
      if (byte !== 255) return length;
    }
  };
  while (at < block.length) {
    const token = block[at] ?? 0;
    at += 1;
    const literals = longer(token >> 4);
    if (at + literals > block.length) throw broken();
    output = withRoom(output, literals, maxBytes);
    block.copy(output.bytes, output.written, at, at + literals);
    at += literals;
    output.written += literals;
    // The last sequence has nothing but literals.
    if (at === block.length) break;
    if (at + 2 > block.length) throw broken();
    const distance = block.readUInt16LE(at);
    at += 2;
    const size = longer(token & 15) + 4;
    output = withRoom(output, size, maxBytes);
    repeat(output.bytes, { written: output.written, distance, size });
    output.written += size;
  }
  return output;
}

function withRoom(output: Output, more: number, maxBytes: number): Output {
  const needed = output.written + more;
  if (needed <= output.bytes.length) return output;
  if (needed > maxBytes) throw tooLarge(maxBytes);
  const bytes = Buffer.alloc(Math.min(maxBytes, Math.max(needed, 2 * output.bytes.length)));
  output.bytes.copy(bytes, 0, 0, output.written);
  return { bytes, written: output.written };
}
