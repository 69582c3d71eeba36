import { runs } from '@millrace/testing/property-runs';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ClaimedExecution, DEFAULT_SHARE, mayHoldAnother, type SlotShares } from '../../src/index.ts';
import type { StartRequest, StoreHarness } from './store-harness.ts';

/** How organisations share workers: the third part of the contract (SPEC.md, S20 and S21). */
export function executionFairnessContract(name: string, makeStore: () => Promise<StoreHarness>): void {
  describe(`execution store contract, organisations: ${name}`, () => {
    let harness: StoreHarness;
    let workerId: string;
    beforeEach(async () => {
      harness = await makeStore();
      workerId = harness.newWorkerId();
      await harness.store.registerWorker(workerId);
    });
    afterEach(() => harness.cleanup());

    type Tenant = Pick<StartRequest, 'organisationId' | 'workflowId'>;

    /** In the order of their ids, which is that of their turns. */
    const tenants = async (count: number): Promise<Tenant[]> => {
      const made: Tenant[] = [];
      while (made.length < count) made.push(await harness.newOrganisation());
      return made;
    };
    const queue = async (tenant: Tenant, count: number, over: Partial<StartRequest> = {}): Promise<void> => {
      const ids = await harness.store.reserveIds(count);
      await harness.store.start(ids.map((id) => ({ ...harness.newRequest(id), ...tenant, ...over })));
    };
    const claim = (limit: number, shares?: SlotShares): Promise<ClaimedExecution[]> =>
      harness.store.claim(workerId, limit, shares);
    /** How many each was given, in the order of `all`. */
    const countsOf = (claimed: readonly ClaimedExecution[], all: readonly Tenant[]): number[] =>
      all.map(({ organisationId }) => claimed.filter((one) => one.organisationId === organisationId).length);

    it('S20: organisations take turns, each with its oldest', async () => {
      const all = await tenants(3);
      for (const [index, count] of [10, 3, 1].entries()) await queue(all[index] as Tenant, count);
      const claimed = await claim(8);
      expect(countsOf(claimed, all)).toEqual([4, 3, 1]);
      const ids = claimed.map(({ lease }) => lease.executionId);
      const first = ids.filter((_, index) => claimed[index]?.organisationId === all[0]?.organisationId);
      expect(Math.max(...first) - Math.min(...first)).toBe(3);
      expect(countsOf(await claim(100), all)).toEqual([6, 0, 0]);
    });

    it('S20: turns go on from claim to claim', async () => {
      const all = await tenants(3);
      for (const tenant of all) await queue(tenant, 4);
      const turns = [];
      for (let count = 0; count < 6; count += 1) turns.push(...(await claim(1)));
      expect(countsOf(turns, all)).toEqual([2, 2, 2]);
    });

    it('S20: also what was woken', async () => {
      const [greedy, other] = (await tenants(2)) as [Tenant, Tenant];
      await queue(greedy, 6);
      await queue(other, 1);
      for (const { lease } of await claim(7)) {
        await harness.store.park(lease, [], (await harness.now()) + 1_000);
        await harness.endWait(lease.executionId);
      }
      expect(countsOf(await claim(2), [greedy, other])).toEqual([1, 1]);
    });

    it('S20: also workflows with a limit', async () => {
      const [greedy, other] = (await tenants(2)) as [Tenant, Tenant];
      await queue(greedy, 6, { maxConcurrency: 6 });
      await queue(other, 1, { maxConcurrency: 1 });
      expect(countsOf(await claim(2), [greedy, other])).toEqual([1, 1]);
    });

    const idsOf = (claimed: readonly ClaimedExecution[]): number[] =>
      claimed.map(({ lease }) => lease.executionId).toSorted((a, b) => a - b);
    const queueOne = async (tenant: Tenant, over: Partial<StartRequest>): Promise<number> => {
      const [id = 0] = await harness.store.reserveIds(1);
      await harness.store.start([{ ...harness.newRequest(id), ...tenant, ...over }]);
      return id;
    };

    it('S22: higher priorities come first, each with its oldest, and other organisations lose nothing', async () => {
      const [tenant, other] = (await tenants(2)) as [Tenant, Tenant];
      const ids: number[] = [];
      for (const priority of ['low', 'normal', 'high', 'low', 'normal', 'high'] as const)
        ids.push(await queueOne(tenant, { priority }));
      await queue(other, 6, { priority: 'low' });
      const claimed = await claim(6);
      expect(countsOf(claimed, [tenant, other])).toEqual([3, 3]);
      const first = claimed.filter(({ organisationId }) => organisationId === tenant.organisationId);
      expect(idsOf(first)).toEqual([ids[1], ids[2], ids[5]]);
    });

    it('S22: low priorities are claimed now and then, however many higher ones wait', async () => {
      const all = (await tenants(2)) as [Tenant, Tenant];
      const low = new Map<number, number[]>();
      for (const tenant of all) {
        low.set(tenant.organisationId, [
          await queueOne(tenant, { priority: 'low' }),
          await queueOne(tenant, { priority: 'low' }),
        ]);
        await queue(tenant, 100, { priority: 'high' });
      }
      const claimed: ClaimedExecution[] = [];
      for (let count = 0; count < 100; count += 1) claimed.push(...(await claim(1)));
      expect(countsOf(claimed, all)).toEqual([50, 50]);
      for (const ids of low.values()) for (const id of ids) expect(idsOf(claimed)).toContain(id);
    });

    it('S22: under a limit the order is kept, with the priority of the first', async () => {
      const [tenant] = (await tenants(1)) as [Tenant];
      const { workflowId } = await harness.newOrganisation();
      const usual = await queueOne({ ...tenant, workflowId }, { maxConcurrency: 2 });
      const high = await queueOne(tenant, { maxConcurrency: 2, priority: 'high' });
      const low = await queueOne(tenant, { maxConcurrency: 2, priority: 'low' });
      expect(idsOf(await claim(1))).toEqual([high]);
      expect(idsOf(await claim(1))).toEqual([usual]);
      expect(idsOf(await claim(1))).toEqual([low]);
    });

    it('S21: an organisation is given no more than its share, whatever else is free', async () => {
      const [greedy, other] = (await tenants(2)) as [Tenant, Tenant];
      await queue(greedy, 20);
      const alone = await claim(8, { free: 8, held: new Map(), largestPercent: 75 });
      expect(alone).toHaveLength(6);
      const held = new Map([[greedy.organisationId, 6]]);
      expect(await claim(2, { free: 2, held, largestPercent: 75 })).toEqual([]);
      await queue(other, 5);
      const claimed = await claim(2, { free: 2, held, largestPercent: 75 });
      expect(countsOf(claimed, [greedy, other])).toEqual([0, 2]);
    });

    it('S20: a turn is as many executions as the weight, in one claim and over several', async () => {
      const all = (await tenants(3)) as [Tenant, Tenant, Tenant];
      for (const tenant of all) await queue(tenant, 20);
      const own = new Map([[all[1].organisationId, { weight: 3, capPercent: 100 }]]);
      const shares = { free: 10, held: new Map(), largestPercent: 100, own };
      expect(countsOf(await claim(10, shares), all)).toEqual([2, 6, 2]);
      const turns: ClaimedExecution[] = [];
      for (let count = 0; count < 10; count += 1) turns.push(...(await claim(1, { ...shares, free: 1 })));
      expect(countsOf(turns, all)).toEqual([2, 6, 2]);
      expect(countsOf(turns.slice(0, 5), all)).toEqual([1, 3, 1]);
    });

    it('S21: slots are shared by weight, and a cap holds whatever is free', async () => {
      const [heavy, light, capped] = (await tenants(3)) as [Tenant, Tenant, Tenant];
      const all = [heavy, light, capped];
      for (const tenant of all) await queue(tenant, 40);
      const own = new Map([
        [heavy.organisationId, { weight: 4, capPercent: 100 }],
        [capped.organisationId, { weight: 4, capPercent: 10 }],
      ]);
      const shares = { free: 40, held: new Map(), largestPercent: 50, own };
      expect(countsOf(await claim(40, shares), all)).toEqual([24, 6, 4]);
      const alone = { ...shares, free: 1, held: new Map([[capped.organisationId, 39]]), largestPercent: 100 };
      expect(countsOf(await claim(1, alone), all)).toEqual([1, 0, 0]);
    });

    it('S21: what was running is taken over whatever its organisation holds', async () => {
      const [tenant] = (await tenants(1)) as [Tenant];
      await queue(tenant, 3);
      expect(await claim(3)).toHaveLength(3);
      await harness.expireLease(workerId);
      workerId = harness.newWorkerId();
      await harness.store.registerWorker(workerId);
      const held = new Map([[tenant.organisationId, 50]]);
      expect(await claim(3, { free: 3, held, largestPercent: 10 })).toHaveLength(3);
    });

    it('S20, S21: nobody passes their share, and no slot stays empty that somebody may have', async () => {
      const all = await tenants(4);
      const amount = fc.nat({ max: 12 });
      const share = fc.record({
        weight: fc.integer({ min: 1, max: 5 }),
        capPercent: fc.constantFrom(10, 50, 100),
      });
      const situation = fc.record({
        queued: fc.tuple(amount, amount, amount, amount),
        held: fc.tuple(amount, amount, amount, amount),
        free: fc.integer({ min: 1, max: 16 }),
        largestPercent: fc.constantFrom(1, 30, 50, 75, 90, 100),
        shares: fc.tuple(share, share, share, share),
      });
      await fc.assert(
        fc.asyncProperty(situation, async ({ queued, held, free, largestPercent, shares }) => {
          await harness.store.heartbeat(workerId);
          for (const [index, count] of queued.entries())
            if (count > 0) await queue(all[index] as Tenant, count);
          const slots = new Map(all.map(({ organisationId }, index) => [organisationId, held[index] ?? 0]));
          const own = new Map(
            all.map(({ organisationId }, index) => [organisationId, shares[index] ?? DEFAULT_SHARE]),
          );
          const claimed = await claim(free, { free, held: slots, largestPercent, own });
          const counts = countsOf(claimed, all);
          const left = free - claimed.length;
          const taken = held.reduce((sum, slots) => sum + slots, 0);
          const mayTake = (tenant: number, slots: number, others: number): boolean =>
            mayHoldAnother({ held: slots, free: others, all: free + taken }, largestPercent, shares[tenant]);
          for (const [index, count] of counts.entries()) {
            const before = held[index] ?? 0;
            // Its last slot was within its share when all others had theirs to come, at the latest.
            if (count > 0) expect(mayTake(index, before + count - 1, free - count + 1)).toBe(true);
            const waits = (queued[index] ?? 0) - count;
            if (waits > 0) expect(mayTake(index, before + count, left)).toBe(false);
          }
          for (const { lease } of [...claimed, ...(await claim(100))])
            await harness.store.finish(lease, [], { status: 'completed' });
        }),
        { numRuns: runs(60) },
      );
    });
  });
}
