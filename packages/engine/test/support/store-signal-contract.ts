import { verbatim } from '@millrace/messages';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type ClaimedExecution,
  type JsonValue,
  type Lease,
  type ParentLink,
  parseJson,
  type StoredSignal,
  stringifyJson,
} from '../../src/index.ts';
import { type CompleteStore, contractSteps, type StartRequest, type StoreHarness } from './store-harness.ts';

const HOUR_MS = 3_600_000;

/** Signals, children and limits of workflows: the second part of the contract (SPEC.md, S14 to S19). */
export function executionSignalContract(name: string, makeStore: () => Promise<StoreHarness>): void {
  describe(`execution store contract, signals and children: ${name}`, () => {
    let harness: StoreHarness;
    let store: CompleteStore;
    beforeEach(async () => {
      harness = await makeStore();
      store = harness.store;
    });
    afterEach(() => harness.cleanup());

    const { worker, request, queued, read } = contractSteps(() => harness);
    const claimAll = async (): Promise<ClaimedExecution[]> => store.claim(await worker(), 100);
    const started = async (over: Partial<StartRequest> = {}): Promise<Lease> => {
      const id = await queued(over);
      const claimed = (await claimAll()).find(({ lease }) => lease.executionId === id);
      if (claimed === undefined) throw new Error('it was not claimed');
      return claimed.lease;
    };
    const claimable = async (): Promise<number[]> => (await claimAll()).map(({ lease }) => lease.executionId);
    const signal = (
      payload: JsonValue,
      nodeId = 'a',
      iteration: number[] = [],
    ): Omit<StoredSignal, 'seq'> => ({
      nodeId,
      iteration,
      payload,
    });
    const childOf = (executionId: number, over: Partial<ParentLink> = {}): ParentLink => ({
      ...{ executionId, nodeId: 'call', iteration: [], callKey: '', waits: true },
      ...over,
    });

    it('S14: signals are counted for each execution, kept in order and come back without loss', async () => {
      const text = '{"big":9007199254740993,"nul":"a\\\\u0000b","__proto__":{"x":1},"list":[null,1e400]}';
      const [one, other] = [await queued(), await queued()];
      expect(await store.sendSignal(one, signal(parseJson(text), 'ä "b"', [3, 0]))).toBe(true);
      expect(await store.sendSignal(other, signal(null))).toBe(true);
      expect(await store.sendSignal(one, signal([2]))).toBe(true);
      const first = { seq: 1, nodeId: 'ä "b"', iteration: [3, 0], payload: parseJson(text) };
      const second = { seq: 2, nodeId: 'a', iteration: [], payload: [2] };
      const texts = (signals: readonly StoredSignal[]): string[] =>
        signals.map(({ seq, nodeId, iteration, payload }) =>
          stringifyJson({ seq, nodeId, iteration, payload }),
        );
      expect(texts(await store.readSignals(one, 0))).toEqual(texts([first, second]));
      expect(texts(await store.readSignals(one, 1))).toEqual(texts([second]));
      expect(await store.readSignals(one, 2)).toEqual([]);
      expect(await store.readSignals(other, 0)).toHaveLength(1);
      const claimed = await claimAll();
      expect(texts(claimed.find(({ lease }) => lease.executionId === one)?.signals ?? [])).toEqual(
        texts([first, second]),
      );
    });

    it('S14: concurrent signals get numbers without gaps', async () => {
      const id = await queued();
      await Promise.all(Array.from({ length: 10 }, (_, n) => store.sendSignal(id, signal(n))));
      const signals = await store.readSignals(id, 0);
      expect(signals.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      expect(new Set(signals.map(({ payload }) => payload)).size).toBe(10);
    });

    it('S14: final and unknown executions accept no signals', async () => {
      const lease = await started();
      await store.finish(lease, [], { status: 'completed' });
      const [unknown = 0] = await store.reserveIds(1);
      expect(await store.sendSignal(lease.executionId, signal(1))).toBe(false);
      expect(await store.sendSignal(unknown, signal(1))).toBe(false);
      expect(await store.readSignals(lease.executionId, 0)).toEqual([]);
    });

    it('S15: parked without a time, it is claimed when a signal arrives, and not before', async () => {
      const lease = await started();
      expect(await store.park(lease, [], null)).toBe(true);
      expect(await read(lease.executionId)).toMatchObject({ status: 'waiting_async', wakeAtMs: null });
      expect(await claimable()).toEqual([]);
      await store.sendSignal(lease.executionId, signal({ ok: true }));
      const [claimed] = await claimAll();
      expect(claimed?.lease.executionId).toBe(lease.executionId);
      expect(claimed?.signals).toEqual([{ seq: 1, ...signal({ ok: true }) }]);
    });

    it('S15: parked until a time, it is claimed at once when a signal arrives', async () => {
      const lease = await started();
      await store.park(lease, [], (await harness.now()) + HOUR_MS);
      await store.sendSignal(lease.executionId, signal(1));
      expect(await claimable()).toEqual([lease.executionId]);
    });

    it('S15: a signal from before parking counts, unless the run has seen it', async () => {
      const [unseen, seen] = [await started(), await started()];
      for (const { executionId } of [unseen, seen]) {
        await store.sendSignal(executionId, signal(1));
        await store.sendSignal(executionId, signal(2));
      }
      await store.park(unseen, [], null, { signalsSeen: 1 });
      await store.park(seen, [], null, { signalsSeen: 2 });
      expect(await claimable()).toEqual([unseen.executionId]);
      await store.sendSignal(seen.executionId, signal(3));
      expect(await claimable()).toEqual([seen.executionId]);
    });

    it("S15: a signal to a running execution doesn't move it", async () => {
      const lease = await started();
      await store.sendSignal(lease.executionId, signal(1));
      expect(await claimable()).toEqual([]);
      expect(await store.checkpoint(lease, [], { signalsSeen: 1 })).toBe(true);
      expect(await read(lease.executionId)).toMatchObject({ status: 'running', workerId: lease.workerId });
    });

    it('S16: a parent has one child per key; a second start stores nothing and finds it', async () => {
      const { executionId } = await started();
      const keys = [
        childOf(executionId),
        childOf(executionId, { callKey: 'again' }),
        childOf(executionId, { nodeId: 'other' }),
        childOf(executionId, { iteration: [0] }),
        childOf(executionId, { iteration: [0, 1] }),
      ];
      for (const parent of keys) {
        expect(await store.findChild(parent)).toBeNull();
        const id = await queued({ parent });
        const [duplicate, bystander] = [await request({ parent, leaseTo: await worker() }), await request()];
        expect(await store.start([duplicate, bystander])).toEqual([null, null]);
        expect(await harness.readExecution(duplicate.executionId)).toBeNull();
        expect(await read(bystander.executionId)).toMatchObject({ status: 'queued' });
        expect(await store.findChild(parent)).toEqual({ executionId: id, workflowVersion: 1 });
      }
    });

    it('S16: concurrent starts create one child', async () => {
      const { executionId } = await started();
      const parent = childOf(executionId);
      const duplicates = await Promise.all(Array.from({ length: 5 }, () => request({ parent })));
      await Promise.all(duplicates.map((duplicate) => store.start([duplicate])));
      const stored = await Promise.all(
        duplicates.map((duplicate) => harness.readExecution(duplicate.executionId)),
      );
      expect(stored.filter((one) => one !== null)).toHaveLength(1);
    });

    it('S16: a parent that has ended, or never existed, gets no child', async () => {
      const lease = await started();
      await store.finish(lease, [], { status: 'completed' });
      const [unknown = 0] = await store.reserveIds(1);
      for (const executionId of [lease.executionId, unknown]) {
        for (const waits of [true, false]) {
          const one = await request({ parent: childOf(executionId, { waits }) });
          expect(await store.start([one])).toEqual([null]);
          expect(await harness.readExecution(one.executionId)).toBeNull();
        }
      }
    });

    it('S17: however an awaited child ends, its parent gets a signal', async () => {
      const { organisationId } = harness.newRequest(0);
      const parent = await started();
      const link = (callKey: string, waits = true): ParentLink =>
        childOf(parent.executionId, { callKey, waits, iteration: [2] });
      const children = [
        await started({ parent: link('completed') }),
        await started({ parent: link('failed') }),
        await started({ parent: link('cancelled') }),
        await started({ parent: link('not waited for', false) }),
      ];
      await store.park(parent, [], null);
      const error = { code: 'broken', message: verbatim('it broke'), nodeId: null };
      const [completed, failed, cancelled, free] = children as [Lease, Lease, Lease, Lease];
      await store.finish(free, [], { status: 'completed' });
      expect(await store.readSignals(parent.executionId, 0)).toEqual([]);
      expect(await claimable()).toEqual([]);
      await store.finish(completed, [], { status: 'completed' });
      await store.finish(failed, [], { status: 'failed', error });
      await store.cancel(organisationId, cancelled.executionId);
      expect(await store.readSignals(parent.executionId, 0)).toEqual(
        [completed, failed, cancelled].map(({ executionId }, at) => ({
          ...{ seq: at + 1, nodeId: 'call', iteration: [2] },
          payload: { execution_id: executionId, status: ['completed', 'failed', 'cancelled'][at] },
        })),
      );
      expect(await claimable()).toEqual([parent.executionId]);
    });

    it('S17: a child that crashed its workers notifies its parent, too', async () => {
      const parent = await started();
      await store.park(parent, [], null);
      const child = await queued({ parent: childOf(parent.executionId) });
      for (let crash = 0; crash < 3; crash++) {
        const [claimed] = await claimAll();
        expect(claimed?.lease.executionId).toBe(child);
        await harness.expireLease(claimed?.lease.workerId ?? '');
      }
      const after = [...(await claimable()), ...(await claimable())];
      expect(await read(child)).toMatchObject({ status: 'failed', error: { code: 'worker_crashed' } });
      expect(await store.readSignals(parent.executionId, 0)).toMatchObject([
        { nodeId: 'call', payload: { execution_id: child, status: 'failed' } },
      ]);
      expect(after).toEqual([parent.executionId]);
    });

    it.each(['completed', 'failed', 'cancelled', 'crashed'] as const)(
      'S18: a parent that has %s cancels the children it waits for, and theirs',
      async (end) => {
        const parent = await started();
        const child = await started({ parent: childOf(parent.executionId) });
        const grandchild = await started({ parent: childOf(child.executionId) });
        const idle = await queued({ parent: childOf(child.executionId, { callKey: 'idle' }) });
        const free = await queued({ parent: childOf(parent.executionId, { nodeId: 'free', waits: false }) });
        const [idleClaimed] = await claimAll();
        if (idleClaimed === undefined) throw new Error('it was not claimed');
        await store.park(child, [], null);
        const error = { code: 'broken', message: verbatim('it broke'), nodeId: null };
        if (end === 'completed') await store.finish(parent, [], { status: 'completed' });
        else if (end === 'failed') await store.finish(parent, [], { status: 'failed', error });
        else if (end === 'cancelled')
          await store.cancel(harness.newRequest(0).organisationId, parent.executionId);
        else {
          for (let crash = 0; crash < 3; crash++) {
            await harness.expireLease((await read(parent.executionId)).workerId ?? '');
            await claimAll();
          }
        }
        const statuses = [child.executionId, grandchild.executionId, idle].map(async (id) => {
          const { status, workerId, error: told } = await read(id);
          return { status, workerId, told };
        });
        expect(await Promise.all(statuses)).toEqual(
          Array.from({ length: 3 }, () => ({ status: 'cancelled', workerId: null, told: null })),
        );
        expect((await read(free)).status).not.toBe('cancelled');
        expect(await store.checkpoint(grandchild, [])).toBe(false);
      },
    );

    it('S18: children that have ended are not changed', async () => {
      const parent = await started();
      const child = await started({ parent: childOf(parent.executionId) });
      await store.finish(child, [], { status: 'completed' });
      const before = await read(child.executionId);
      await store.finish(parent, [], { status: 'completed' });
      expect(await read(child.executionId)).toEqual(before);
    });

    it('S19: no more than the limit of a workflow are leased at the same time; others are passed over', async () => {
      const limited = [];
      for (let count = 0; count < 4; count++) limited.push(await queued({ maxConcurrency: 2 }));
      const free = await queued();
      const first = await claimAll();
      expect(first.map(({ lease }) => lease.executionId)).toEqual([...limited.slice(0, 2), free]);
      expect(await claimable()).toEqual([]);
      const [one, two] = first as [ClaimedExecution, ClaimedExecution];
      await store.finish(one.lease, [], { status: 'completed' });
      // The free one has ended by now, too: it counts towards the workflow's leased executions.
      await store.finish((first[2] as ClaimedExecution).lease, [], { status: 'completed' });
      expect(await claimable()).toEqual([limited[2]]);
      // A parked execution isn't leased.
      await store.park(two.lease, [], null);
      expect(await claimable()).toEqual([limited[3]]);
      await store.sendSignal(two.lease.executionId, signal(1));
      expect(await claimable()).toEqual([]);
    });

    it('S19: a start under a limit is stored as queued, and a lost worker takes no second slot', async () => {
      const workerId = await worker();
      const first = await request({ maxConcurrency: 1, leaseTo: workerId });
      const second = await request({ maxConcurrency: 1, leaseTo: workerId });
      expect(await store.start([first])).toEqual([null]);
      const [claimed, ...others] = await store.claim(workerId, 10);
      expect([claimed?.lease.executionId, others]).toEqual([first.executionId, []]);
      expect(await store.start([second])).toEqual([null]);
      expect(await read(second.executionId)).toMatchObject({ status: 'queued', workerId: null });
      await harness.expireLease(workerId);
      expect(await claimable()).toEqual([first.executionId]);
    });

    it("S19: many concurrent workers don't exceed the limit", async () => {
      for (let count = 0; count < 8; count++) await queued({ maxConcurrency: 3 });
      const workers = [await worker(), await worker(), await worker(), await worker()];
      const claims = await Promise.all(workers.map((id) => store.claim(id, 8)));
      const rest = await claimAll();
      expect([...claims.flat(), ...rest]).toHaveLength(3);
    });
  });
}
