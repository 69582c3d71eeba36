import { expect, test } from 'vitest';
import { ByteQueue } from './byte-queue.ts';

function queueOf(...pieces: readonly string[]): ByteQueue {
  const queue = new ByteQueue();
  for (const piece of pieces) queue.push(Buffer.from(piece));
  return queue;
}

test('bytes are taken across pieces, in their order', () => {
  const queue = queueOf('ab', 'c', '', 'defg');
  expect(queue.length).toBe(7);
  expect(queue.take(1).toString()).toBe('a');
  expect(queue.take(4).toString()).toBe('bcde');
  expect(queue.take(2).toString()).toBe('fg');
  expect(queue.length).toBe(0);
  queue.push(Buffer.from('h'));
  expect(queue.take(1).toString()).toBe('h');
});

test('looking takes nothing', () => {
  const queue = queueOf('a', 'bc', 'd');
  expect(queue.peek(2).toString()).toBe('ab');
  expect(queue.peek(9).toString()).toBe('abcd');
  expect(queue.length).toBe(4);
  expect(queue.take(4).toString()).toBe('abcd');
});

test('what is missing is left out, and nothing is left after clearing', () => {
  const queue = queueOf('ab');
  expect(queue.take(0).toString()).toBe('');
  expect(queue.take(5).toString()).toBe('ab');
  expect(queue.take(5).toString()).toBe('');
  queue.push(Buffer.from('c'));
  queue.clear();
  expect(queue.length).toBe(0);
  expect(queue.peek(1).toString()).toBe('');
});
