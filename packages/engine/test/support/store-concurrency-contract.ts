import { runs } from '@millrace/testing/property-runs';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ClaimedExecution, OnLimit } from '../../src/index.ts';
import { contractSteps, type StartRequest, type StoreHarness } from './store-harness.ts';

/** Limits by key: the fourth part of the contract (SPEC.md, S24 to S26). */
export function executionConcurrencyContract(name: string, makeStore: () => Promise<StoreHarness>): void {
  describe(`execution store contract, concurrency: ${name}`, () => {
    let harness: StoreHarness;
    let workerId: string;
    beforeEach(async () => {
      harness = await makeStore();
      workerId = await worker();
    });
    afterEach(() => harness.cleanup());

    const { worker, queued, read, request } = contractSteps(() => harness);
    const keyed = (key: string, limit: number, onLimit: OnLimit = 'queue'): Partial<StartRequest> => ({
      concurrency: { key, limit, onLimit },
    });
    const claim = (limit: number, by = workerId): Promise<ClaimedExecution[]> =>
      harness.store.claim(by, limit);
    const idsOf = (claimed: readonly ClaimedExecution[]): number[] =>
      claimed.map(({ lease }) => lease.executionId).toSorted((a, b) => a - b);
    const finish = async (claimed: readonly ClaimedExecution[]): Promise<void> => {
      for (const { lease } of claimed) await harness.store.finish(lease, [], { status: 'completed' });
    };
    const statusOf = async (id: number): Promise<string> => (await read(id)).status;

    it('S24: of each key no more than the limit are leased, in order, and full keys are passed over', async () => {
      const a: number[] = [];
      for (let count = 0; count < 30; count += 1) a.push(await queued(keyed('a', 2)));
      const b = [await queued(keyed('b', 1)), await queued(keyed('b', 1))];
      const first = await claim(20);
      expect(idsOf(first)).toEqual([a[0], a[1], b[0]]);
      expect(await claim(20)).toEqual([]);
      await finish(first.slice(0, 1));
      expect(idsOf(await claim(20))).toEqual([a[2]]);
      await finish(first.slice(2));
      expect(idsOf(await claim(20))).toEqual([b[1]]);
    });

    it('S24: with a limit of the workflow, both hold, and so do those of other workflows', async () => {
      const other = await harness.newOrganisation();
      const elsewhere = await queued({ ...other, ...keyed('a', 1) });
      const ids: number[] = [];
      for (const key of ['a', 'a', 'b', 'c']) ids.push(await queued({ ...keyed(key, 1), maxConcurrency: 2 }));
      const claimed = await claim(10);
      expect(idsOf(claimed)).toEqual([elsewhere, ids[0], ids[2]]);
      await finish(claimed.filter(({ lease }) => lease.executionId === ids[2]));
      expect(idsOf(await claim(10))).toEqual([ids[3]]);
    });

    it('S24: a start under a limit is stored as queued; one that wakes needs a place again, one that is lost keeps its own', async () => {
      const leased = await request({ ...keyed('a', 1), leaseTo: workerId });
      expect(await harness.store.start([leased])).toEqual([null]);
      const [first] = await claim(1);
      if (first === undefined) throw new Error('nothing was claimed');
      await harness.store.park(first.lease, [], (await harness.now()) + 1_000);
      const second = await queued(keyed('a', 1));
      expect(idsOf(await claim(5))).toEqual([second]);
      await harness.endWait(first.lease.executionId);
      expect(await claim(5)).toEqual([]);
      await harness.expireLease(workerId);
      workerId = await worker();
      const taken = await claim(5);
      expect(idsOf(taken)).toEqual([second]);
      await finish(taken);
      expect(idsOf(await claim(5))).toEqual([first.lease.executionId]);
    });

    it('S24: many keys that are full hide none that is not', async () => {
      for (let key = 0; key < 40; key += 1) {
        await queued(keyed(`full ${key}`, 1));
        await queued(keyed(`full ${key}`, 1));
      }
      const full = await claim(100);
      expect(full).toHaveLength(40);
      const free = await queued(keyed('free', 1));
      expect(idsOf(await claim(1))).toEqual([free]);
    });

    it('S25: what would pass the limit is skipped with the reason, and only then', async () => {
      const first = await queued(keyed('a', 1, 'skip'));
      const second = await queued(keyed('a', 1, 'skip'));
      const other = await queued(keyed('b', 1, 'skip'));
      await harness.store.decideStarts();
      expect(await read(second)).toMatchObject({
        ...{ status: 'cancelled', workerId: null, error: null },
        cancellation: { code: 'skipped_by_concurrency', executionId: first },
      });
      const claimed = await claim(5);
      expect(idsOf(claimed)).toEqual([first, other]);
      const third = await queued(keyed('a', 1, 'skip'));
      await harness.store.decideStarts();
      expect(await statusOf(third)).toBe('cancelled');
      await finish(claimed);
      const fourth = await queued(keyed('a', 1, 'skip'));
      expect(idsOf(await claim(5))).toEqual([fourth]);
    });

    it('S25: one that waits for something else counts, one that a person cancelled does not', async () => {
      const first = await queued(keyed('a', 1, 'skip'));
      const [running] = await claim(1);
      if (running === undefined) throw new Error('nothing was claimed');
      await harness.store.park(running.lease, [], null);
      const skipped = await queued(keyed('a', 1, 'skip'));
      await harness.store.decideStarts();
      expect(await statusOf(skipped)).toBe('cancelled');
      await harness.store.cancel(harness.newRequest(0).organisationId, first);
      const next = await queued(keyed('a', 1, 'skip'));
      expect(idsOf(await claim(5))).toEqual([next]);
    });

    it('S26: the newest stay, whether older ones run, wait or are queued; these name the newer one', async () => {
      const ids = [await queued(keyed('a', 2, 'cancel_running'))];
      const [parked] = await claim(1);
      if (parked === undefined) throw new Error('nothing was claimed');
      await harness.store.park(parked.lease, [], null);
      ids.push(await queued(keyed('a', 2, 'cancel_running')));
      const [running] = await claim(1);
      ids.push(await queued(keyed('a', 2, 'cancel_running')), await queued(keyed('a', 2, 'cancel_running')));
      await harness.store.decideStarts();
      const [first = 0, second = 0, third = 0, fourth = 0] = ids;
      const code = 'cancelled_by_newer_execution';
      expect(await read(first)).toMatchObject({
        status: 'cancelled',
        cancellation: { code, executionId: third },
      });
      expect(await read(second)).toMatchObject({
        status: 'cancelled',
        cancellation: { code, executionId: fourth },
      });
      expect(
        running === undefined || (await harness.store.finish(running.lease, [], { status: 'completed' })),
      ).toBe(false);
      expect(idsOf(await claim(5))).toEqual([third, fourth]);
    });

    it('S26: what an older execution waited for is cancelled with it', async () => {
      await queued(keyed('a', 1, 'cancel_running'));
      const [parent] = await claim(1);
      if (parent === undefined) throw new Error('nothing was claimed');
      const link = {
        executionId: parent.lease.executionId,
        nodeId: 'call',
        iteration: [],
        callKey: '',
        waits: true,
      };
      const child = await request({ parent: link });
      await harness.store.start([child]);
      await queued(keyed('a', 1, 'cancel_running'));
      await harness.store.decideStarts();
      await claim(1);
      expect(await statusOf(child.executionId)).toBe('cancelled');
    });

    it('S24 S25 S26: many workers decide and claim at once, and every start ends as its setting says', async () => {
      const workers = await Promise.all(Array.from({ length: 4 }, worker));
      const modes: readonly OnLimit[] = ['queue', 'skip', 'cancel_running'];
      const starts = fc.array(fc.record({ key: fc.nat({ max: 2 }), limit: fc.integer({ min: 1, max: 3 }) }), {
        ...{ minLength: 1, maxLength: 25 },
      });
      let round = 0;
      await fc.assert(
        fc.asyncProperty(starts, fc.constantFrom(...modes), async (all, onLimit) => {
          round += 1;
          await Promise.all([workerId, ...workers].map((id) => harness.store.heartbeat(id)));
          const limits = all.map(({ key }) => all.find((one) => one.key === key)?.limit ?? 1);
          const keyOf = (key: number): string => `${onLimit} ${round} ${key}`;
          const ids: number[] = [];
          for (const [index, { key }] of all.entries())
            ids.push(await queued(keyed(keyOf(key), limits[index] ?? 1, onLimit)));
          const claims = await Promise.all(workers.map((by) => claim(10, by)));
          let open = claims.flat();
          const begun = new Set(idsOf(open));
          for (let left = all.length; open.length > 0 && left > 0; left -= 1) {
            for (const [index, { key }] of all.entries()) {
              const running = open.filter(({ lease }) => all[ids.indexOf(lease.executionId)]?.key === key);
              expect(running.length).toBeLessThanOrEqual(limits[index] ?? 1);
            }
            await finish(open.slice(0, 1));
            open = [...open.slice(1), ...(await claim(10))];
            for (const id of idsOf(open)) begun.add(id);
          }
          await finish(open);
          for (const [index, id] of ids.entries()) {
            const withKey = ids.filter((_, other) => all[other]?.key === all[index]?.key);
            const place = withKey.indexOf(id);
            const limit = limits[index] ?? 1;
            const runs =
              onLimit === 'queue' || (onLimit === 'skip' ? place < limit : place >= withKey.length - limit);
            expect(begun.has(id)).toBe(runs);
            expect(await statusOf(id)).toBe(runs ? 'completed' : 'cancelled');
          }
        }),
        { numRuns: runs(25) },
      );
    });
  });
}
