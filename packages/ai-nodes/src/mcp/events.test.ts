import { describe, expect, it } from 'vitest';
import { eventsIn } from './events.ts';

describe('events of a stream', () => {
  it.each([
    ['data: a\n\ndata: b\n\n', ['a', 'b']],
    ['event: message\nid: 7\ndata: a\ndata:b\ndata\n\n', ['a\nb\n']],
    [': ping\r\n\r\ndata:  two\r\n\r\n', [' two']],
    ['\ufeffdata: first\r\rdata: last', ['first', 'last']],
    ['datum: x\n\nretry: 3\n\n', []],
    ['', []],
  ])('%j', (stream, expected) => {
    expect(eventsIn(stream)).toEqual(expected);
  });
});
