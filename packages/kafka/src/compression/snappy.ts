import { KafkaProtocolError } from '../bytes.ts';

/** What the Java library writes before blocks of its own framing. */
const FRAMED = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const FRAMED_HEADER = 16;
/** After so much output others get their turn. */
const SLICE_BYTES = 1024 * 1024;

/** Decompresses Snappy, bare or in the framing of the Java library; yields now and then. @throws KafkaProtocolError */
export function* decodeSnappy(bytes: Buffer, maxBytes: number): Generator<void, Buffer> {
  if (!bytes.subarray(0, FRAMED.length).equals(FRAMED)) return yield* decodeBlock(bytes, maxBytes);
  const blocks: Buffer[] = [];
  let size = 0;
  for (let at = FRAMED_HEADER; at + 4 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    at += 4;
    if (at + length > bytes.length) throw broken();
    const block = yield* decodeBlock(bytes.subarray(at, at + length), maxBytes - size);
    blocks.push(block);
    size += block.length;
    at += length;
    yield;
  }
  return Buffer.concat(blocks);
}

function* decodeBlock(bytes: Buffer, maxBytes: number): Generator<void, Buffer> {
  let at = 0;
  let length = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at];
    if (byte === undefined || shift > 28) throw broken();
    at += 1;
    length += (byte & 127) * 2 ** shift;
    if (byte < 128) break;
  }
  if (length > maxBytes) throw tooLarge(maxBytes);
  const output = Buffer.alloc(length);
  let written = 0;
  let pausesAt = SLICE_BYTES;
  const little = (count: number): number => {
    if (at + count > bytes.length) throw broken();
    const value = bytes.readUIntLE(at, count);
    at += count;
    return value;
  };
  while (at < bytes.length) {
    const tag = bytes[at] ?? 0;
    at += 1;
    if ((tag & 3) === 0) {
      const short = tag >> 2;
      const size = (short < 60 ? short : little(short - 59)) + 1;
      if (at + size > bytes.length || written + size > length) throw broken();
      bytes.copy(output, written, at, at + size);
      at += size;
      written += size;
    } else {
      const isShort = (tag & 3) === 1;
      const size = isShort ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1;
      const distance = isShort ? ((tag >> 5) << 8) + little(1) : little((tag & 3) === 2 ? 2 : 4);
      repeat(output, { written, distance, size });
      written += size;
    }
    if (written < pausesAt) continue;
    pausesAt = written + SLICE_BYTES;
    yield;
  }
  if (written !== length) throw broken();
  return output;
}

/** Writes again what was written before; the two may overlap, which repeats a pattern. @throws KafkaProtocolError */
export function repeat(
  output: Buffer,
  { written, distance, size }: { readonly written: number; readonly distance: number; readonly size: number },
): void {
  if (distance === 0 || distance > written || written + size > output.length) throw broken();
  if (distance >= size) {
    output.copyWithin(written, written - distance, written - distance + size);
    return;
  }
  for (let at = written; at < written + size; at += 1) output[at] = output[at - distance] ?? 0;
}

export function broken(): KafkaProtocolError {
  return new KafkaProtocolError('compressed messages are damaged');
}

export function tooLarge(maxBytes: number): KafkaProtocolError {
  return new KafkaProtocolError(`compressed messages have more than ${maxBytes} bytes`);
}
