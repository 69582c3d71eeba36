import { expect, it } from 'vitest';
import { claimPause } from './claim-pause.ts';

const QUIET = { pollMs: 1_000, nextHeldMs: null, quietMs: Infinity, freeSlots: 4, isIdle: true };

it.each([
  ['five polls while nothing comes by itself', QUIET, 5_000],
  ['until a wait is over', { ...QUIET, quietMs: 2_500 }, 2_500],
  ['no longer than five seconds', { ...QUIET, pollMs: 3_000 }, 5_000],
  ['a poll that is longer than that', { ...QUIET, pollMs: 60_000 }, 60_000],
])('a quiet worker waits for %s', (_what, state, ms) => {
  expect(claimPause(state, state)).toEqual({ ms, isQuiet: true });
});

it.each([
  ['a poll while it runs something', { ...QUIET, isIdle: false }, 1_000],
  ['a poll if a wait is over before', { ...QUIET, quietMs: 900 }, 1_000],
  ['until something held may be released', { ...QUIET, quietMs: 0, nextHeldMs: 300 }, 300],
  ['a moment if that is overdue', { ...QUIET, quietMs: 0, nextHeldMs: -5 }, 10],
  ['a poll if there is no slot for it', { ...QUIET, quietMs: 0, nextHeldMs: 300, freeSlots: 0 }, 1_000],
])('otherwise it waits for %s', (_what, state, ms) => {
  expect(claimPause(state, state)).toEqual({ ms, isQuiet: false });
});
