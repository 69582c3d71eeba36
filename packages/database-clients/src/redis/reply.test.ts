import { expect, test } from 'vitest';
import { encodeCommand } from './connection.ts';
import {
  RedisProtocolError,
  type RedisReply,
  RedisReplyError,
  type ReplyLimits,
  ReplyReader,
} from './reply.ts';

const REPLIES = '+OK\r\n-ERR no\r\n:42\r\n$5\r\na\r\nbc\r\n$-1\r\n*2\r\n$1\r\nx\r\n*1\r\n:7\r\n*-1\r\n*0\r\n';
const LIMITS: ReplyLimits = {
  ...{ bytes: 1_000, bytesOf: 'reply', listItems: 100_000, depth: 8 },
  tooLarge: () => new RedisProtocolError('too large'),
};
const shown = (reply: RedisReply): unknown => {
  if (typeof reply === 'string') return Number(reply);
  if (reply instanceof Buffer) return reply.toString();
  if (reply instanceof RedisReplyError) return `! ${reply.message}`;
  return Array.isArray(reply) ? reply.map(shown) : reply;
};

test('reads the same replies wherever they are cut', () => {
  const bytes = Buffer.from(REPLIES);
  const read = (size: number) => {
    const replies: RedisReply[] = [];
    const reader = new ReplyReader(LIMITS, (reply) => replies.push(reply));
    for (let at = 0; at < bytes.length; at += size) reader.take(bytes.subarray(at, at + size));
    return replies.map(shown);
  };
  const expected = ['OK', '! ERR no', 42, 'a\r\nbc', null, ['x', [7]], null, []];
  for (let size = 1; size <= bytes.length; size += 1) expect(read(size)).toEqual(expected);
});

test.each([
  ['a reply that is announced to be too large', '$1000000\r\n'],
  ['a line without end', `+${'x'.repeat(2_000)}`],
  ['lists in lists', '*1\r\n'.repeat(20)],
  ['a list that is too long', '*1000000\r\n'],
  ['a length that is no number', '$x\r\n'],
  ['another protocol', 'HTTP/1.1 400\r\n'],
])('refuses %s', (_what, text) => {
  expect(() => new ReplyReader(LIMITS, () => {}).take(Buffer.from(text))).toThrow(RedisProtocolError);
});

test('a command has the bytes of its texts', () => {
  expect(encodeCommand(['XADD', 'é']).toString()).toBe('*2\r\n$4\r\nXADD\r\n$2\r\né\r\n');
});
