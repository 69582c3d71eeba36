import { describeError } from '@millrace/http/logging';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRepeats } from './repeats.ts';

let lines: { level: number; msg: string; again?: number; error?: string; err?: { stack: string } }[];

function createLogger() {
  const made = createRepeats();
  lines = [];
  const log = pino(
    { base: null, hooks: made.hooks },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  return { log, ...made };
}

const full = () =>
  Object.assign(new Error('could not extend file "base/16384/1": No space left'), { code: '53100' });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a repeated error is logged once with its stack and then counted', () => {
  const { log } = createLogger();
  const child = log.child({ request_id: 'req_1' });
  for (let n = 0; n < 1000; n += 1) {
    const error = Object.assign(full(), {
      message: `could not extend file "base/16384/${n}": No space left`,
    });
    child.error({ err: describeError(error), code: 'database_unavailable' }, 'request error');
  }
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ msg: 'request error', err: { stack: expect.stringContaining(' at ') } });
  vi.advanceTimersByTime(60_000);
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatchObject({ level: 50, msg: 'request error (again 999 times)', again: 999 });
  expect(JSON.stringify(lines[1])).not.toContain(' at ');
});

test('after a minute without it, it is logged in full again', () => {
  const { log } = createLogger();
  const error = full();
  log.warn({ err: error }, 'worker could not claim executions; retrying');
  vi.advanceTimersByTime(60_000);
  log.warn({ err: error }, 'worker could not claim executions; retrying');
  expect(lines.map(({ msg }) => msg)).toEqual(Array(2).fill('worker could not claim executions; retrying'));
});

test('other errors, other places, lines without an error and the last lines are not mistaken for it', () => {
  const { log } = createLogger();
  const error = full();
  log.error({ err: error }, 'request error');
  log.error({ err: error }, 'something else');
  log.error({ err: Object.assign(full(), { message: 'another' }) }, 'request error');
  log.error({ err: full() }, 'request error');
  log.warn({ status: 503 }, 'request failed');
  log.warn({ status: 503 }, 'request failed');
  log.fatal({ err: error }, 'uncaught exception');
  log.fatal({ err: error }, 'uncaught exception');
  expect(lines).toHaveLength(7);
});

test('pending counts are logged before the end', () => {
  const { log, summarise } = createLogger();
  const error = full();
  log.warn({ err: error }, 'away');
  log.warn({ err: error }, 'away');
  summarise();
  expect(lines.at(-1)).toMatchObject({ level: 40, msg: 'away (again once)', again: 1 });
});
