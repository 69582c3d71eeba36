import type { HostWait } from '@millrace/engine';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type HostCall, HostLimits, type HostPass } from './host-limits.ts';

const SETTINGS = { processCalls: 0, organisationCalls: 0, organisationRate: 0, maxPauseMs: 60_000 };
const NEVER = new AbortController().signal;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** What became of a call. */
interface Tried {
  state: 'waiting' | 'begun' | 'refused';
  pass: HostPass | null;
  putOffMs: number | null;
  isWaiting: boolean;
}

interface More extends Partial<Omit<HostCall, 'quota' | 'wait'>> {
  readonly maxWaitMs?: number | null;
  readonly quota?: string;
  readonly signal?: AbortSignal;
  readonly checkLease?: () => void;
}

/** The call, and what has become of it as soon as nothing happens any more without time passing. */
async function call(limits: HostLimits, more: More = {}): Promise<Tried> {
  const { maxWaitMs = 5_000, quota = 'key', signal = NEVER, checkLease = () => {}, ...given } = more;
  const tried: Tried = { state: 'waiting', pass: null, putOffMs: null, isWaiting: false };
  const wait: HostWait = {
    maxWaitMs,
    begin() {
      tried.isWaiting = true;
      return () => {
        tried.isWaiting = false;
      };
    },
    putOff(_, afterMs) {
      tried.putOffMs = afterMs;
    },
    checkLease,
  };
  limits
    .enter({ organisationId: 1, host: 'api.example:443', quota: () => quota, wait, ...given }, signal)
    .then(
      (pass) => Object.assign(tried, { state: 'begun', pass }),
      () => Object.assign(tried, { state: 'refused' }),
    );
  await settle();
  return tried;
}

/** Lets the promises of what has happened so far go on. */
async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

const statesOf = (tried: readonly Tried[]): string => tried.map(({ state }) => state[0]).join('');

it('as many calls as allowed are under way to one host, for each organisation and in all', async () => {
  const limits = new HostLimits({ ...SETTINGS, processCalls: 5, organisationCalls: 3 });
  const own = [];
  for (let n = 0; n < 5; n += 1) own.push(await call(limits));
  const others = [];
  for (let n = 0; n < 3; n += 1) others.push(await call(limits, { organisationId: 2 }));
  expect([statesOf(own), statesOf(others)]).toEqual(['bbbww', 'bbw']);
  expect(own.map(({ isWaiting }) => isWaiting)).toEqual([false, false, false, true, true]);
  const elsewhere = await call(limits, { host: 'other.example:443' });
  expect(elsewhere.state).toBe('begun');
  expect(limits.state).toEqual({ calls: 6, waiting: 3, putOff: 0, pauses: 0 });

  own[0]?.pass?.leave();
  own[0]?.pass?.leave();
  await settle();
  // The room in the process is for whoever waits; the first organisation may use it, too.
  expect([statesOf(own), statesOf(others)].join()).toMatch(/^(bbbbw,bbw|bbbww,bbb)$/);
  expect(limits.state).toMatchObject({ calls: 6, waiting: 2 });
});

it('organisations that wait for a host take turns, each in its own order', async () => {
  const limits = new HostLimits({ ...SETTINGS, processCalls: 1 });
  const first = await call(limits);
  const many = [];
  for (let n = 0; n < 4; n += 1) many.push(await call(limits));
  const one = await call(limits, { organisationId: 2 });
  first.pass?.leave();
  await settle();
  const begun = [...many, one].find(({ state }) => state === 'begun');
  begun?.pass?.leave();
  await settle();
  expect([one.state, statesOf(many)]).toEqual(['begun', 'bwww']);
});

it('a call that would wait for too long is put off, one behind the other', async () => {
  const limits = new HostLimits({ ...SETTINGS, organisationCalls: 2 });
  const running = [await call(limits), await call(limits)];
  const patient = await call(limits, { maxWaitMs: null });
  const late = await call(limits);
  await vi.advanceTimersByTimeAsync(5_000);
  expect([patient.state, late.state, late.isWaiting]).toEqual(['waiting', 'refused', false]);
  // By now it is known that calls take five seconds or more: nobody waits in vain.
  const later = [];
  for (let n = 0; n < 4; n += 1) later.push(await call(limits, { maxWaitMs: 1_000 }));
  expect(statesOf(later)).toBe('rrrr');
  const times = [late, ...later].map(({ putOffMs }) => putOffMs ?? 0);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(times.at(-1)).toBe((times.at(-2) ?? 0) + 2_500);
  expect(limits.state).toMatchObject({ putOff: 5, waiting: 1 });
  running[0]?.pass?.leave();
  await settle();
  expect(patient.state).toBe('begun');
});

it('a rate spreads calls over time, after as many as a second allows', async () => {
  const limits = new HostLimits({ ...SETTINGS, organisationRate: 4 });
  const calls = [];
  for (let n = 0; n < 8; n += 1) calls.push(await call(limits));
  expect(statesOf(calls)).toBe('bbbbwwww');
  await vi.advanceTimersByTimeAsync(500);
  expect(statesOf(calls)).toBe('bbbbbbww');
  await vi.advanceTimersByTimeAsync(500);
  expect(statesOf(calls)).toBe('bbbbbbbb');
  expect((await call(limits, { organisationId: 2 })).state).toBe('begun');
});

it("the limits of an organisation are shared by the processes that make calls; a process's own isn't", async () => {
  const limits = new HostLimits({ ...SETTINGS, processCalls: 3, organisationCalls: 4, organisationRate: 8 });
  limits.setProcesses(4);
  const calls = [await call(limits), await call(limits)];
  expect(statesOf(calls)).toBe('bw');
  limits.setProcesses(2);
  await settle();
  expect(statesOf(calls)).toBe('bb');
  const others = [await call(limits, { organisationId: 2 }), await call(limits, { organisationId: 2 })];
  expect(statesOf(others)).toBe('bw');
});

it('429 with Retry-After holds calls of the same quota back, 503 all of the organisation', async () => {
  const limits = new HostLimits(SETTINGS);
  const refused = await call(limits);
  refused.pass?.responded(429, 3_000);
  refused.pass?.leave();
  const waiting = [await call(limits), await call(limits)];
  const otherKey = await call(limits, { quota: 'another key' });
  const others = await call(limits, { organisationId: 2 });
  expect(statesOf([...waiting, otherKey, others])).toBe('wwbb');
  await vi.advanceTimersByTimeAsync(2_990);
  expect(statesOf(waiting)).toBe('ww');
  await vi.advanceTimersByTimeAsync(20);
  expect(statesOf(waiting)).toBe('bb');

  otherKey.pass?.responded(503, 20_000);
  const late = [await call(limits), await call(limits, { quota: 'another key' })];
  expect(late.map(({ state, putOffMs }) => [state, putOffMs !== null && putOffMs >= 20_000])).toEqual([
    ['refused', true],
    ['refused', true],
  ]);
  expect((await call(limits, { organisationId: 2 })).state).toBe('begun');
  expect(limits.state.pauses).toBe(2);
});

it('a pause is bounded, and only 429 and 503 with a time begin one', async () => {
  const limits = new HostLimits({ ...SETTINGS, maxPauseMs: 2_000 });
  const first = await call(limits);
  first.pass?.responded(200, 50_000);
  first.pass?.responded(500, 50_000);
  first.pass?.responded(429, undefined);
  first.pass?.responded(429, 0);
  expect((await call(limits)).state).toBe('begun');
  first.pass?.responded(429, 31_536_000_000);
  const waiting = await call(limits);
  expect(waiting.state).toBe('waiting');
  await vi.advanceTimersByTimeAsync(2_010);
  expect(waiting.state).toBe('begun');
});

it('who gives up waiting, or has lost its lease, leaves its place to the next', async () => {
  const limits = new HostLimits({ ...SETTINGS, organisationCalls: 1 });
  const first = await call(limits);
  const given = new AbortController();
  const up = await call(limits, { signal: given.signal });
  const stale = await call(limits, {
    checkLease: () => {
      throw new Error('the lease has ended');
    },
  });
  const last = await call(limits);
  given.abort();
  await settle();
  expect([up.state, up.isWaiting, up.putOffMs]).toEqual(['refused', false, null]);
  first.pass?.leave();
  await settle();
  expect([stale.state, last.state]).toEqual(['refused', 'begun']);
  expect(limits.state).toMatchObject({ calls: 1, waiting: 0 });
  expect((await call(limits, { signal: AbortSignal.abort() })).state).toBe('refused');
});

it('any number of names, and of quotas, takes bounded memory', async () => {
  const limits = new HostLimits({ ...SETTINGS, organisationRate: 10 });
  for (let n = 0; n < 5_000; n += 1) {
    const one = await limits.enter(
      { organisationId: 1, host: `${n}.example:443`, quota: () => `${n}` },
      NEVER,
    );
    one.responded(429, 1);
    one.leave();
    if (n % 100 === 0) await vi.advanceTimersByTimeAsync(200);
  }
  await vi.advanceTimersByTimeAsync(2_000);
  const before = limits.known;
  await limits.enter({ organisationId: 1, host: 'last.example:443', quota: () => 'q' }, NEVER);
  expect([before <= 2_100, limits.known <= 2_100]).toEqual([true, true]);
});
