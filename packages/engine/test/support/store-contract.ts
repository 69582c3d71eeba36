import { verbatim } from '@millrace/messages';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type ClaimedExecution,
  type Lease,
  type NodeRecord,
  parseJson,
  stringifyJson,
  successRecord,
} from '../../src/index.ts';
import { executionConcurrencyContract } from './store-concurrency-contract.ts';
import { executionFairnessContract } from './store-fairness-contract.ts';
import { type CompleteStore, contractSteps, type StoreHarness } from './store-harness.ts';
import { executionSignalContract } from './store-signal-contract.ts';

const PROGRESS = { attempts: 1, startedAtMs: 1_000, consumedAiTokens: 0 };

function done(nodeId: string, value: number): NodeRecord {
  return successRecord({ ...PROGRESS, nodeId }, { value }, ['out'], 2_000);
}

/** The contract of every {@link CompleteStore} (SPEC.md, S rules). Third crash: `maxCrashedAttempts` must be 3. */
export function executionStoreContract(name: string, makeStore: () => Promise<StoreHarness>): void {
  describe(`execution store contract: ${name}`, () => {
    let harness: StoreHarness;
    let store: CompleteStore;
    beforeEach(async () => {
      harness = await makeStore();
      store = harness.store;
    });
    afterEach(() => harness.cleanup());

    const { worker, request, queued, read } = contractSteps(() => harness);
    const claimOne = async (workerId: string): Promise<ClaimedExecution> => {
      const [claimed] = await store.claim(workerId, 1);
      if (claimed === undefined) throw new Error('nothing was claimed');
      return claimed;
    };
    const started = async (): Promise<Lease> => {
      await queued();
      return (await claimOne(await worker())).lease;
    };

    it('S1: reserved ids are fresh and ascending', async () => {
      const ids = [...(await store.reserveIds(3)), ...(await store.reserveIds(2))];
      expect(ids).toHaveLength(5);
      expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    });

    it('S2: a start is queued, or leased to the worker it names', async () => {
      const workerId = await worker();
      const waiting = await request();
      const leased = await request({ leaseTo: workerId });
      const [none, lease] = await store.start([waiting, leased]);
      expect(none).toBeNull();
      expect(lease).toMatchObject({ executionId: leased.executionId, workerId });
      expect(await read(waiting.executionId)).toMatchObject({
        status: 'queued',
        workerId: null,
        startedAtMs: null,
      });
      expect(await read(leased.executionId)).toMatchObject({ status: 'running', workerId });
      expect(await store.claim(workerId, 10)).toHaveLength(1);
    });

    it('S2: all requests are stored or none', async () => {
      const first = await request();
      await store.start([first]);
      const second = await request();
      await expect(store.start([second, first])).rejects.toThrow();
      expect(await harness.readExecution(second.executionId)).toBeNull();
    });

    it('S27: what was run to its end before it is stored needs no lease', async () => {
      const outcomes = [
        { status: 'completed' },
        { status: 'failed', error: { code: 'x', message: verbatim('y'), nodeId: 'a' } },
      ] as const;
      for (const outcome of outcomes) {
        const ahead = { records: [done('a', 1)], consumedAiTokens: 7, outcome };
        const ended = await request({ leaseTo: harness.newWorkerId(), ahead });
        expect(await store.start([ended])).toEqual([null]);
        const stored = await read(ended.executionId);
        expect(stored).toMatchObject({
          ...{ status: outcome.status, workerId: null, records: [done('a', 1)], consumedAiTokens: 7 },
          error: outcome.status === 'failed' ? { code: 'x', nodeId: 'a' } : null,
        });
        expect(stored.completedAtMs).toBeGreaterThanOrEqual(stored.startedAtMs ?? Infinity);
        expect(await store.claim(await worker(), 10)).toEqual([]);
        expect(await store.cancel(ended.organisationId, ended.executionId)).toBe(false);
      }
    });

    it('S27: records of what goes on are stored with the lease it asked for, and follow-up writes append', async () => {
      const workerId = await worker();
      const ahead = { records: [done('a', 1)], consumedAiTokens: 7, outcome: null };
      const leased = await request({ leaseTo: workerId, ahead });
      const [lease] = await store.start([leased]);
      if (!lease) throw new Error('it was not leased');
      expect(await read(leased.executionId)).toMatchObject({ records: [done('a', 1)], consumedAiTokens: 7 });
      expect(await store.checkpoint(lease, [done('b', 2)])).toBe(true);
      await harness.expireLease(workerId);
      const { records } = await claimOne(await worker());
      expect(records).toEqual([done('a', 1), done('b', 2)]);
    });

    it('S27: without that lease it is queued as if nothing had been run', async () => {
      const ahead = { records: [done('a', 1)], consumedAiTokens: 7, outcome: null };
      const limited = await request({ leaseTo: await worker(), maxConcurrency: 1, ahead });
      expect(await store.start([limited])).toEqual([null]);
      expect(await read(limited.executionId)).toMatchObject({
        ...{ status: 'queued', workerId: null, records: [], consumedAiTokens: 0 },
      });
    });

    it('S3: claims are oldest first and at most as many as requested', async () => {
      const ids = [await queued(), await queued(), await queued()];
      const workerId = await worker();
      const first = await store.claim(workerId, 2);
      expect(first.map(({ lease }) => lease.executionId)).toEqual(ids.slice(0, 2));
      expect((await store.claim(workerId, 2)).map(({ lease }) => lease.executionId)).toEqual(ids.slice(2));
      expect(await store.claim(workerId, 2)).toEqual([]);
    });

    it('S3: each execution is handed to one worker only', async () => {
      const ids = [];
      for (let count = 0; count < 12; count++) ids.push(await queued());
      const workers = [await worker(), await worker(), await worker()];
      const claims = await Promise.all(workers.map((id) => store.claim(id, 6)));
      // A worker may get fewer when another one is about to claim the same.
      const rest = await store.claim(workers[0] ?? '', 12);
      const claimed = [...claims.flat(), ...rest].map(({ lease }) => lease.executionId);
      expect(claimed.sort((a, b) => a - b)).toEqual(ids);
    });

    it('S4: every claim raises the token and keeps the first start time and its deadline', async () => {
      await queued({ timeoutMs: 60_000 });
      const first = await worker();
      const before = await claimOne(first);
      expect((before.deadlineAtMs ?? 0) - before.startedAtMs).toBe(60_000);
      await harness.expireLease(first);
      const after = await claimOne(await worker());
      expect(after.lease.claim).toBeGreaterThan(before.lease.claim);
      expect(after.startedAtMs).toBe(before.startedAtMs);
      expect(after.deadlineAtMs).toBe(before.deadlineAtMs);
    });

    it('S4: an execution without a limit has no deadline', async () => {
      await queued({ timeoutMs: null });
      expect((await claimOne(await worker())).deadlineAtMs).toBeNull();
    });

    it("S5: executions of a live worker can't be claimed", async () => {
      await started();
      expect(await store.claim(await worker(), 10)).toEqual([]);
    });

    it('S5: after a take-over the writes of the old worker change nothing', async () => {
      const old = await started();
      await harness.expireLease(old.workerId);
      const { lease } = await claimOne(await worker());
      await store.checkpoint(lease, [done('a', 1)]);
      const before = await read(lease.executionId);
      expect(await store.checkpoint(old, [done('a', 2)])).toBe(false);
      expect(await store.park(old, [done('a', 2)], await harness.now())).toBe(false);
      expect(await store.handBack(old, [done('a', 2)])).toBe(false);
      expect(await store.finish(old, [done('a', 2)], { status: 'completed' })).toBe(false);
      expect(await read(lease.executionId)).toEqual(before);
      expect(await store.finish(lease, [], { status: 'completed' })).toBe(true);
    });

    it('S5: a worker that takes over its own lost execution is fenced by the token', async () => {
      const workerId = await worker();
      await queued();
      const first = await claimOne(workerId);
      expect(await store.handBack(first.lease, [])).toBe(true);
      const second = await claimOne(workerId);
      expect(await store.checkpoint(first.lease, [done('a', 1)])).toBe(false);
      expect(await store.checkpoint(second.lease, [done('a', 1)])).toBe(true);
    });

    it('S5: a retired worker releases its executions at once', async () => {
      const lease = await started();
      await store.retireWorker(lease.workerId);
      expect((await claimOne(await worker())).lease.executionId).toBe(lease.executionId);
    });

    it('S6: a heartbeat renews a lease, but never an expired one', async () => {
      const workerId = await worker();
      expect(await store.heartbeat(workerId)).toBe(true);
      await harness.expireLease(workerId);
      expect(await store.heartbeat(workerId)).toBe(false);
      expect(await store.heartbeat(workerId)).toBe(false);
      expect(await store.heartbeat(harness.newWorkerId())).toBe(false);
    });

    it('S7: the third crash fails the execution instead of handing it out', async () => {
      const { executionId, workerId } = await started();
      await harness.expireLease(workerId);
      for (let crash = 1; crash < 3; crash++) {
        const { lease } = await claimOne(await worker());
        expect(lease.executionId).toBe(executionId);
        await harness.expireLease(lease.workerId);
      }
      expect(await store.claim(await worker(), 10)).toEqual([]);
      expect(await read(executionId)).toMatchObject({ status: 'failed', error: { code: 'worker_crashed' } });
    });

    it('S7: a hand-back counts no crash', async () => {
      const first = await started();
      let lease = first;
      for (let round = 0; round < 4; round++) {
        expect(await store.handBack(lease, [done('a', round)])).toBe(true);
        expect(await read(lease.executionId)).toMatchObject({ status: 'queued', workerId: null });
        lease = (await claimOne(await worker())).lease;
      }
      expect(lease.executionId).toBe(first.executionId);
    });

    it('S8: a parked execution belongs to no worker until its time has come', async () => {
      const lease = await started();
      const wakeAtMs = (await harness.now()) + 3_600_000;
      expect(await store.park(lease, [done('a', 1)], wakeAtMs)).toBe(true);
      const parked = await read(lease.executionId);
      expect(parked).toMatchObject({ status: 'waiting_async', workerId: null });
      expect(Math.abs((parked.wakeAtMs ?? 0) - wakeAtMs)).toBeLessThanOrEqual(1);
      expect(await store.claim(await worker(), 10)).toEqual([]);
      expect(await store.checkpoint(lease, [done('b', 1)])).toBe(false);
      await harness.endWait(lease.executionId);
      const again = await claimOne(await worker());
      expect(again.lease.executionId).toBe(lease.executionId);
      expect(again.records).toEqual([done('a', 1)]);
      expect(await read(lease.executionId)).toMatchObject({ status: 'running', wakeAtMs: null });
    });

    it('S9: a final execution never changes', async () => {
      const lease = await started();
      const error = { code: 'broken', message: verbatim('it broke'), nodeId: 'a' };
      expect(await store.finish(lease, [done('a', 1)], { status: 'failed', error })).toBe(true);
      const before = await read(lease.executionId);
      expect(before).toMatchObject({ status: 'failed', error, workerId: null });
      expect(before.completedAtMs).toBeGreaterThanOrEqual(before.startedAtMs ?? Infinity);
      expect(await store.finish(lease, [], { status: 'completed' })).toBe(false);
      expect(await store.checkpoint(lease, [done('b', 1)])).toBe(false);
      expect(await store.cancel(harness.newRequest(0).organisationId, lease.executionId)).toBe(false);
      await harness.expireLease(lease.workerId);
      expect(await store.claim(await worker(), 10)).toEqual([]);
      expect(await read(lease.executionId)).toEqual(before);
    });

    it('S10: cancel ends queued, running and waiting executions, only once', async () => {
      const { organisationId } = harness.newRequest(0);
      const running = await started();
      const waiting = await started();
      await store.park(waiting, [], (await harness.now()) + 3_600_000);
      const idle = await queued();
      for (const id of [idle, running.executionId, waiting.executionId]) {
        expect(await store.cancel(organisationId, id)).toBe(true);
        expect(await read(id)).toMatchObject({ status: 'cancelled', workerId: null, error: null });
        expect(await store.cancel(organisationId, id)).toBe(false);
      }
      expect(await store.checkpoint(running, [done('a', 1)])).toBe(false);
      expect(await store.claim(await worker(), 10)).toEqual([]);
    });

    it('S10: cancel reaches neither unknown executions nor those of others', async () => {
      const { organisationId } = harness.newRequest(0);
      const id = await queued();
      const [unknown = 0] = await store.reserveIds(1);
      expect(await store.cancel(organisationId, unknown)).toBe(false);
      expect(await store.cancel(organisationId + 1_000_000, id)).toBe(false);
      expect(await read(id)).toMatchObject({ status: 'queued' });
    });

    it('S11: later records of a node replace earlier ones', async () => {
      const lease = await started();
      await store.checkpoint(lease, [done('a', 1), done('b', 1)], { consumedAiTokens: 3 });
      await store.checkpoint(lease, []);
      await store.checkpoint(lease, [done('a', 2), done('c', 1)], { consumedAiTokens: 5 });
      await harness.expireLease(lease.workerId);
      const { records } = await claimOne(await worker());
      const byNode = new Map(records.map((record) => [record.nodeId, record]));
      expect([...byNode.values()].sort((x, y) => (x.nodeId < y.nodeId ? -1 : 1))).toEqual([
        done('a', 2),
        done('b', 1),
        done('c', 1),
      ]);
      expect((await read(lease.executionId)).consumedAiTokens).toBe(5);
    });

    it('S23: a claim gets the bytes that were stored, as last reported', async () => {
      const lease = await started();
      await store.checkpoint(lease, [done('a', 1)], { storedBytes: 3_000_000_000 });
      await store.checkpoint(lease, [done('a', 2)]);
      await harness.expireLease(lease.workerId);
      expect((await claimOne(await worker())).storedBytes).toBe(3_000_000_000);
    });

    it('S11: input and records come back without loss', async () => {
      const text =
        '{"big":9007199254740993,"huge":1e400,"nul":"a\\u0000b","lone":"\\ud800","__proto__":{"x":1},"z":1,"a":[null]}';
      await queued({ input: parseJson(text) });
      const before = await claimOne(await worker());
      expect(stringifyJson(before.input)).toBe(text);
      const output = parseJson(text) as { readonly [name: string]: never };
      const record = successRecord({ ...PROGRESS, nodeId: 'ä "b"' }, output, ['out'], 2_000);
      await store.checkpoint(before.lease, [record]);
      await harness.expireLease(before.lease.workerId);
      const after = await claimOne(await worker());
      expect(stringifyJson(after.records as never)).toBe(stringifyJson([record] as never));
      expect(stringifyJson(after.input)).toBe(text);
    });

    it('S11: of an ended iteration only its end comes back, of an ended loop only the loop', async () => {
      const lease = await started();
      const progress = { ...PROGRESS, nodeId: 'loop' };
      const inside = (index: number): NodeRecord => ({
        ...done('a', index),
        iteration: [index],
        loopId: 'loop',
      });
      const ended = (index: number): NodeRecord => ({
        nodeId: 'loop',
        status: 'iteration_ended',
        iteration: [index],
        loopId: 'loop',
        output: [index, null],
        consumedAiTokens: 0,
        startedAtMs: 1_000,
        completedAtMs: 2_000,
      });
      const running: NodeRecord = { ...progress, status: 'running' };
      await store.checkpoint(lease, [running, inside(0)]);
      await store.checkpoint(lease, [ended(0), inside(1), ended(1), inside(2)]);
      await harness.expireLease(lease.workerId);
      const { lease: next, records } = await claimOne(await worker());
      const byText = (list: readonly NodeRecord[]): string[] =>
        list.map((record) => stringifyJson(record as never)).sort();
      expect(byText(records)).toEqual(byText([running, ended(0), inside(1), ended(1), inside(2)]));
      const over = successRecord(progress, { items: [] }, ['out'], 3_000);
      await store.checkpoint(next, [over]);
      await harness.expireLease(next.workerId);
      expect((await claimOne(await worker())).records).toEqual([over]);
    });

    it('S12: of a concurrent cancel and finish one wins', async () => {
      const { organisationId } = harness.newRequest(0);
      for (let round = 0; round < 10; round++) {
        const lease = await started();
        const attempts = [
          () => store.finish(lease, [done('a', 1)], { status: 'completed' }),
          () => store.cancel(organisationId, lease.executionId),
        ];
        if (round % 2 === 1) attempts.reverse();
        const answers = await Promise.all(attempts.map((attempt) => attempt()));
        expect(answers.filter(Boolean)).toHaveLength(1);
        const finished = answers[round % 2];
        expect((await read(lease.executionId)).status).toBe(finished === true ? 'completed' : 'cancelled');
      }
    });
  });
  executionSignalContract(name, makeStore);
  executionFairnessContract(name, makeStore);
  executionConcurrencyContract(name, makeStore);
}
