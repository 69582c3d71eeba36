import { expect, test } from 'vitest';
import { murmur2, partitionOf } from './partitioner.ts';

// Values that the tests of Kafka's Java library expect.
test.each([
  ['21', -973932308],
  ['foobar', -790332482],
  ['a-little-bit-long-string', -985981536],
  ['a-little-bit-longer-string', -1486304829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
])('hashes %s as the Java library does', (key, hash) => {
  expect(murmur2(Buffer.from(key))).toBe(hash);
});

test('gives a key one of the partitions, always the same', () => {
  expect(partitionOf(Buffer.from('foobar'), 10)).toBe((-790332482 & 0x7fffffff) % 10);
});
