import { expect, test } from 'vitest';
import { chooseDataRoot } from './data-root.ts';

const GIB = 1024 ** 3;

test('test servers keep their data in memory only where there is plenty of it', () => {
  expect(chooseDataRoot({ space: 8 * GIB, memory: 12 * GIB })).toBe('/dev/shm');
  // A container with the usual 64 MiB, a small machine, one without the folder.
  expect(chooseDataRoot({ space: 64 * 1024 ** 2, memory: 12 * GIB })).toBe('/tmp');
  expect(chooseDataRoot({ space: 8 * GIB, memory: 2 * GIB })).toBe('/tmp');
  expect(chooseDataRoot({ space: 0, memory: 12 * GIB })).toBe('/tmp');
});
