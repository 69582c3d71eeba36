import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chain, post } from './support/client.ts';
import { finished, readExecution, readExecutions, timesRecorded } from './support/ledger.ts';
import { retryUntilAccepted } from './support/load.ts';
import { PgProxy } from './support/pg-proxy.ts';
import { LONG_LEASE, SURE_LEASE } from './support/service-process.ts';
import { until } from './support/until.ts';
import { useWorld } from './support/use-world.ts';
import { warmUp } from './support/warm-up.ts';

const world = useWorld();
let proxy: PgProxy;
let proxied: { DATABASE_URL: string };
beforeEach(async () => {
  proxy = await PgProxy.start(world().cluster.socketPath);
  proxied = { DATABASE_URL: proxy.through(world().cluster.url) };
});
afterEach(() => proxy.stop());

describe('a worker cut off from PostgreSQL by a black hole', () => {
  it('starts no effect, is replaced, and its late writes change nothing', async () => {
    const { db, receiver } = world();
    const client = world().client(await world().api());
    const [first, second] = ['/black-hole/first', '/black-hole/second'];
    const flow = chain(post('first', receiver.url(first)), post('second', receiver.url(second)));
    const workflow = await client.createWorkflow('black hole', flow);
    const hold = receiver.hold(first, 2);
    const cutOff = await world().worker({ ...SURE_LEASE, ...proxied });
    await warmUp(world(), client, 1);
    const oldLease = await world().leaseOf(cutOff);
    const id = await client.accept(workflow, 'm');
    await receiver.arrival(first, 1);

    proxy.swallowEverything();
    // Its node ends, and the next one may not start before that is stored: the write is lost in transit.
    hold.releaseFirst();
    await until('a write in the black hole', () => proxy.hasSwallowed('apply_fenced_writes'));
    const other = await world().worker(LONG_LEASE);
    await receiver.arrival(first, 2);
    const before = await readExecution(db, id);
    proxy.heal();
    await until('a new lease of the worker that was cut off', async () => {
      return (await world().leaseOf(cutOff)) !== oldLease;
    });
    expect(before.crashed_attempts).toBe(1);
    // It was held up itself, so its executions are to blame for nothing.
    await until(
      'the crash to be taken back',
      async () => (await readExecution(db, id)).crashed_attempts === 0,
    );
    expect(await readExecution(db, id)).toEqual({ ...before, crashed_attempts: 0 });
    expect(await timesRecorded(db, id, 'first')).toBe(0);
    expect(receiver.to(second)).toHaveLength(0);

    hold.release();
    expect(await finished(db, id)).toMatchObject({ status: 'completed', crashed_attempts: 0, claim: 2 });
    expect(new Set(receiver.to(first).map((request) => request.deliveryKey)).size).toBe(1);
    expect(receiver.to(second)).toHaveLength(1);

    await other.end();
    const next = await client.accept(workflow, 'next');
    expect(await finished(db, next)).toMatchObject({ status: 'completed', crashed_attempts: 0 });
    expect(cutOff.isRunning).toBe(true);
  });
});

describe('the reply to the commit of a start is lost', () => {
  it.each(['api', 'start'])(
    'millrace %s: one execution per start, with and without Idempotency-Key',
    async (command) => {
      const { db, receiver } = world();
      const path = `/lost-reply/${command}`;
      const client = world().client(await (await world().spawn(command, proxied)).ready());
      const workflow = await client.createWorkflow(path, chain(post('tell', receiver.url(path))));
      await world().worker(LONG_LEASE);
      for (let round = 1; round <= 6; round += 1) {
        const marker = `${command}-${round}`;
        const key = round % 2 === 0 ? marker : null;
        proxy.loseReplyTo('insert_executions');
        const start = await client.startPatiently(workflow, marker, key);
        expect(proxy.lostReplies).toBe(round);
        const isUnavailable = start.answer.kind === 'refused' && start.answer.status === 503;
        expect(start.answer.kind === 'accepted' || isUnavailable, JSON.stringify(start.answer)).toBe(true);
        const stored = (await readExecutions(db, workflow)).filter((row) => row.marker === marker);
        // The statement was executed, even if the client got no response.
        expect(stored).toHaveLength(1);
        if (key !== null) {
          const again = await retryUntilAccepted(client, workflow, start);
          expect(again.answer).toMatchObject({ executionId: stored[0]?.id, isReplay: true });
        }
        if (start.answer.kind === 'accepted') expect(start.answer.executionId).toBe(stored[0]?.id);
        expect(await finished(db, stored[0]?.id ?? 0)).toMatchObject({ status: 'completed' });
      }
      expect(await readExecutions(db, workflow)).toHaveLength(6);
      const deliveries = receiver.to(path).map((request) => (request.body as { marker: string }).marker);
      expect(deliveries.toSorted()).toEqual([1, 2, 3, 4, 5, 6].map((round) => `${command}-${round}`));
    },
  );
});
