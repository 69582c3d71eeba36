import { expect, test, vi } from 'vitest';
import { DatabaseClock } from './clock.ts';

const HOUR_MS = 3_600_000;

/** A database with a settable clock. */
function databaseAt(atMs: number) {
  const database = {
    offsetMs: atMs - performance.now(),
    async query<Row>(): Promise<Row[]> {
      return [{ ms: database.offsetMs + performance.now() } as Row];
    },
  };
  return database;
}

test('follows a database clock that steps forward and back, instead of standing still', async () => {
  const startMs = Date.UTC(2026, 0, 1);
  const database = databaseAt(startMs);
  const clock = new DatabaseClock(database);
  await clock.synchronise();
  database.offsetMs += HOUR_MS;
  await clock.synchronise();
  expect(clock.now()).toBeGreaterThanOrEqual(startMs + HOUR_MS);
  database.offsetMs -= HOUR_MS;
  await clock.synchronise();
  expect(clock.now()).toBeLessThan(startMs + HOUR_MS);
});

test('never goes back because of a slow round trip', async () => {
  const database = databaseAt(Date.UTC(2026, 0, 1));
  const clock = new DatabaseClock(database);
  await clock.synchronise();
  const before = clock.now();
  database.offsetMs -= 100;
  await clock.synchronise();
  expect(clock.now()).toBeGreaterThanOrEqual(before);
});

test('is not moved by a reply that took seconds, unless the database shows another time', async () => {
  let nowMs = 0;
  const clockOfHost = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const database = { offsetMs: Date.UTC(2026, 0, 1), replyMs: 2 };
  const clock = new DatabaseClock({
    async query<Row>(): Promise<Row[]> {
      const rows = [{ ms: database.offsetMs + nowMs } as Row];
      nowMs += database.replyMs;
      return rows;
    },
  });
  await clock.synchronise();
  database.replyMs = 8_000;
  await clock.synchronise();
  expect(clock.now()).toBe(database.offsetMs + nowMs - 1);
  database.offsetMs += HOUR_MS;
  await clock.synchronise();
  expect(clock.now()).toBe(database.offsetMs + nowMs - 4_000);
  database.replyMs = 2;
  await clock.synchronise();
  expect(clock.now()).toBeLessThan(database.offsetMs + nowMs + 1);
  clockOfHost.mockRestore();
});
