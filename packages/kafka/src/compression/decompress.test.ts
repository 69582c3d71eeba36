import { expect, test } from 'vitest';
import { decompress } from './decompress.ts';

const [SNAPPY, LZ4] = [2, 3];
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const text = async (codec: number, bytes: Buffer, max = 1_000_000) =>
  (await decompress(codec, bytes, max)).toString('latin1');

// 10 bytes: a literal "ab", then what stands 2 bytes back, 8 times over itself.
const PATTERN = hex('0a 04 6162 11 02');

test('Snappy: literals, near and far copies, long literals', async () => {
  expect(await text(SNAPPY, PATTERN)).toBe('ababababab');
  // A copy with an offset of two bytes, and one of four.
  expect(await text(SNAPPY, hex('06 08 616263 0a 0300'))).toBe('abcabc');
  expect(await text(SNAPPY, hex('06 08 616263 0b 03000000'))).toBe('abcabc');
  const long = Buffer.alloc(300, 'x');
  expect(await text(SNAPPY, Buffer.concat([hex('ac02 f4 2b01'), long]))).toBe('x'.repeat(300));
});

test('Snappy in the framing of the Java library', async () => {
  const framed = Buffer.concat([
    hex('82 534e41505059 00 00000001 00000001'),
    ...[PATTERN, PATTERN].flatMap((block) => [
      hex(`000000${block.length.toString(16).padStart(2, '0')}`),
      block,
    ]),
  ]);
  expect(await text(SNAPPY, framed)).toBe('ab'.repeat(10));
});

const frame = (...blocks: readonly Buffer[]): Buffer =>
  Buffer.concat([
    hex('04224d18 60 40 82'),
    ...blocks.flatMap((block) => {
      const size = Buffer.alloc(4);
      size.writeUInt32LE(block.length);
      return [size, block];
    }),
    hex('00000000'),
  ]);

test('LZ4: literals, copies that overlap, blocks that refer to earlier ones, blocks that are not compressed', async () => {
  // "ab", then 8 bytes from 2 back, then the last literal "c".
  expect(await text(LZ4, frame(hex('24 6162 0200 10 63')))).toBe('abababababc');
  const stored = Buffer.concat([hex('02000080'), Buffer.from('xy')]);
  // The second block begins with four bytes from two back, in the first one.
  const second = hex('00 0200 10 7a');
  const both = Buffer.concat([hex('04224d18 40 40 c0'), stored, hex('05000000'), second, hex('00000000')]);
  expect(await text(LZ4, both)).toBe('xyxyxyz');
});

test.each<[string, number, Buffer]>([
  ['Snappy that ends too early', SNAPPY, hex('0a 04 61')],
  ['Snappy that copies from before its beginning', SNAPPY, hex('0a 04 6162 11 09')],
  ['Snappy that has less than it says', SNAPPY, hex('0a 04 6162')],
  ['Snappy with a length without end', SNAPPY, hex('ffffffffffffff')],
  ['LZ4 without its beginning', LZ4, hex('00112233445566')],
  ['LZ4 that copies from before its beginning', LZ4, frame(hex('24 6162 0900 10 63'))],
  ['LZ4 that ends too early', LZ4, frame(hex('f0 ff'))],
  ['gzip that is none', 1, hex('00112233')],
  ['zstd that is none', 4, hex('00112233')],
])('refuses %s', async (_what, codec, bytes) => {
  await expect(decompress(codec, bytes, 1_000)).rejects.toMatchObject({ name: 'KafkaProtocolError' });
});

test.each<[string, number, Buffer]>([
  ['Snappy', SNAPPY, hex('ffffff7f 00')],
  ['LZ4', LZ4, frame(Buffer.concat([hex('1f 61 0100'), Buffer.alloc(40, 0xff), hex('00 10 63')]))],
])('refuses %s that has more than the limit before it is kept', async (_what, codec, bytes) => {
  await expect(decompress(codec, bytes, 1_000)).rejects.toThrow('more than 1000 bytes');
});
