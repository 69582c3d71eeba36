import { success, waitUntil } from '@millrace/engine';
import { runNode, TEST_NOW_MS } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { coreDelay } from './core-delay.ts';

const DAY_MS = 86_400_000;
const waiting = (ms: number) =>
  waitUntil(TEST_NOW_MS + ms, { waited_until: new Date(TEST_NOW_MS + ms).toISOString() });

describe('core.delay', () => {
  it.each([
    [{ duration_ms: 1 }, 1],
    [{ duration_ms: 366 * DAY_MS }, 366 * DAY_MS],
    [{ duration: { amount: 1, unit: 'ms' } }, 1],
    [{ duration: { amount: 1.5, unit: 'seconds' } }, 1500],
    [{ duration: { amount: 2, unit: 'minutes' } }, 120_000],
    [{ duration: { amount: 3, unit: 'hours' } }, 10_800_000],
    [{ duration: { amount: 366, unit: 'days' } }, 366 * DAY_MS],
    [{ until: '2026-01-01T00:00:01Z' }, 1000],
    [{ until: '2026-01-01t00:00:01.250z' }, 1250],
    [{ until: '2026-01-01 00:00:01.123456789Z' }, 1123],
    [{ until: '2026-01-01T09:30:00+09:00' }, 1_800_000],
    [{ until: '2025-12-31T23:00:00-01:30' }, 1_800_000],
    [{ until: '2026-06-30T23:59:60Z' }, Date.parse('2026-06-30T23:59:59Z') - TEST_NOW_MS],
  ])('waits as configured: %j', async (config, ms) => {
    expect((await runNode(coreDelay, { config })).result).toEqual(waiting(ms));
  });

  it.each([
    [{ duration_ms: 0 }, '2026-01-01T00:00:00.000Z'],
    [{ duration: { amount: 0, unit: 'days' } }, '2026-01-01T00:00:00.000Z'],
    [{ until: '2026-01-01T00:00:00Z' }, '2026-01-01T00:00:00.000Z'],
    [{ until: '1999-12-31T23:59:59Z' }, '1999-12-31T23:59:59.000Z'],
    [{ until: '0000-01-01T00:00:00Z' }, '0000-01-01T00:00:00.000Z'],
  ])("doesn't wait for a time in the past: %j", async (config, waitedUntil) => {
    expect((await runNode(coreDelay, { config })).result).toEqual(success({ waited_until: waitedUntil }));
  });

  it.each([
    [{ duration_ms: 366 * DAY_MS + 1 }],
    [{ duration: { amount: 367, unit: 'days' } }],
    [{ duration: { amount: 1e300, unit: 'days' } }],
    [{ until: '9999-01-01T00:00:00Z' }],
  ])('refuses more than 366 days: %j', async (config) => {
    expect((await runNode(coreDelay, { config })).result).toMatchObject({
      kind: 'failure',
      code: 'delay_too_long',
    });
  });

  it.each([
    [{}],
    [{ duration_ms: null }],
    [{ duration_ms: 1, until: '2026-01-01T00:00:01Z' }],
    [{ duration_ms: -1 }],
    [{ duration_ms: 1.5 }],
    [{ duration_ms: '5' }],
    [{ duration: { amount: -1, unit: 'days' } }],
    [{ duration: { amount: 1, unit: 'years' } }],
    [{ duration: { amount: 1 } }],
    [{ until: 'tomorrow' }],
    [{ until: '2026-01-02' }],
    [{ until: '2026-01-02T00:00:00' }],
    [{ until: '2026-02-30T00:00:00Z' }],
    [{ until: '2026-13-01T00:00:00Z' }],
    [{ until: '2026-01-01T24:00:00Z' }],
    [{ until: '2026-01-01T00:60:00Z' }],
    [{ until: '2026-01-01T00:00:00+25:00' }],
    [{ until: 1_767_225_600 }],
  ])('refuses %j', async (config) => {
    const { result } = await runNode(coreDelay, { config });
    expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config', retryable: false });
  });
});
