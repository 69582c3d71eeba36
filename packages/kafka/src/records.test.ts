import { gzipSync, zstdCompressSync } from 'node:zlib';
import { type BatchOptions, batchOf, type TestRecord } from '@millrace/testing/kafka/wire';
import { runs } from '@millrace/testing/property-runs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { crc32c } from './crc32c.ts';
import { readRecords, writeBatch } from './records.ts';

async function read(bytes: Buffer, from = 0): Promise<(string | number)[]> {
  const found: (string | number)[] = [];
  for await (const step of readRecords(bytes, from, [])) {
    found.push('record' in step ? String(step.record.value) : step.upTo);
  }
  return found;
}

const batch = (records: readonly TestRecord[], more: Partial<BatchOptions> = {}): Buffer =>
  batchOf(records, { firstOffset: 0, timestamp: 1, ...more });

test.each([
  ['gzip', 1, gzipSync],
  ['zstd', 4, zstdCompressSync],
])('reads what was compressed by %s', async (_name, codec, compress) => {
  expect(await read(batch([{ value: 'a' }, { value: 'b' }], { codec, compress }))).toEqual(['a', 'b', 2]);
});

test('begins in the middle of a batch, and leaves one that is cut off for the next time', async () => {
  const first = batch([{ value: 'a' }, { value: 'b' }, { value: 'c' }]);
  const second = batch([{ value: 'd' }], { firstOffset: 3 });
  expect(await read(Buffer.concat([first, second]), 1)).toEqual(['b', 'c', 3, 'd', 4]);
  expect(await read(Buffer.concat([first, second.subarray(0, -1)]))).toEqual(['a', 'b', 'c', 3]);
  await expect(read(first.subarray(0, -1))).rejects.toThrow('not sent completely');
});

test.each<[string, (bytes: Buffer) => void, string]>([
  ['the old format', (bytes) => bytes.writeInt8(1, 16), 'before 0.11'],
  ['an unknown compression', (bytes) => bytes.writeInt16BE(7, 21), 'unknown method'],
  ['more records than there are', (bytes) => bytes.writeInt32BE(2_000_000, 57), 'too early'],
  ['no room for its header', (bytes) => bytes.writeInt32BE(20, 8), 'damaged'],
])('refuses a batch with %s', async (_what, damage, reason) => {
  const bytes = batch([{ value: 'a' }]);
  damage(bytes);
  await expect(read(bytes)).rejects.toThrow(reason);
});

test('whatever bytes arrive, it ends with records or a fault of the protocol', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.nat(120), async (noise, at) => {
      const bytes = batch([{ value: 'a', key: 'k', headers: [['h', 'v']] }, { value: 'b' }]);
      bytes.set(noise.subarray(0, Math.max(0, bytes.length - at)), Math.min(at, bytes.length));
      await read(bytes).catch((error: Error) => expect(error.name).toBe('KafkaProtocolError'));
    }),
    { numRuns: runs(300) },
  );
});

test('knows the checksum of Castagnoli', () => {
  // The check value that the algorithm's catalogue gives.
  expect(crc32c(Buffer.from('123456789')) >>> 0).toBe(0xe3069283);
});

test('writes what it reads, with a checksum over everything behind it', async () => {
  const records = [
    { key: Buffer.from('k'), value: Buffer.from('a'), headers: [['h', Buffer.from('v')]] as const },
    { key: null, value: null, headers: [] },
  ];
  const bytes = writeBatch(records, 1_700_000_000_000);
  expect(bytes.readInt32BE(8)).toBe(bytes.length - 12);
  expect(bytes.readInt32BE(17)).toBe(crc32c(bytes.subarray(21)));
  const found = [];
  for await (const step of readRecords(bytes, 0, [])) if ('record' in step) found.push(step.record);
  expect(found).toMatchObject(
    records.map((each, offset) => ({ ...each, offset, timestamp: 1_700_000_000_000 })),
  );
});
