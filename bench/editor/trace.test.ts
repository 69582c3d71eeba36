import { describe, expect, test } from 'vitest';
import { parseTrace, readSmoothness, type TraceEvent } from './trace.ts';

const event = (name: string, ts: number, more: Partial<TraceEvent> = {}): TraceEvent => ({
  name,
  ts,
  pid: 1,
  tid: 1,
  ...more,
});

describe('readSmoothness', () => {
  test('uses the frames and tasks of the thread with the most input', () => {
    const other = { pid: 2, tid: 9 };
    const found = readSmoothness([
      event('EventDispatch', 1),
      event('EventDispatch', 2),
      event('EventDispatch', 3, other),
      event('DrawFrame', 50_000),
      event('DrawFrame', 16_000),
      event('DrawFrame', 33_000, { tid: 4 }),
      event('DrawFrame', 20_000, other),
      event('RunTask', 5, { dur: 4_000 }),
      event('RunTask', 6, { dur: 9_000 }),
      event('RunTask', 6, { dur: 99_000, tid: 4 }),
    ]);
    expect(found).toEqual({ frameMs: [17, 17], busyMs: 13, longestTaskMs: 9 });
  });

  test('says what is missing', () => {
    expect(() => readSmoothness([])).toThrow('no input');
    expect(() => readSmoothness([event('EventDispatch', 1), event('DrawFrame', 1)])).toThrow('no frames');
  });

  test('reads what Chromium writes', () => {
    expect(parseTrace('{"traceEvents":[{"name":"a","ph":"X","ts":1,"pid":1,"tid":1}]}')).toHaveLength(1);
  });
});
