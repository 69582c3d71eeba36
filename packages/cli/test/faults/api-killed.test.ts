import { describe, expect, it } from 'vitest';
import { chain, post, type Start } from './support/client.ts';
import { allFinished } from './support/ledger.ts';
import { retryUntilAccepted } from './support/load.ts';
import { useWorld } from './support/world.ts';

const world = useWorld();

describe('SIGKILL of the process that accepts starts', () => {
  // `api` queues every start; `start` leases it to itself on insert.
  it.each(['api', 'start'])(
    'millrace %s: a retry with the same Idempotency-Key creates exactly one execution',
    async (command) => {
      const { db, receiver } = world();
      const path = `/accepted-by/${command}`;
      const service = await (await world().spawn(command)).ready();
      const client = world().client(service);
      const workflow = await client.createWorkflow(path, chain(post('tell', receiver.url(path))));
      const starts: Start[] = [];
      const markers = Array.from({ length: 240 }, (_, n) => `${command}-${n}`);
      const waiting = [...markers];
      const clients = Array.from({ length: 12 }, async () => {
        for (let marker = waiting.shift(); marker !== undefined; marker = waiting.shift()) {
          starts.push(await client.start(workflow, marker, marker));
          // Killed by a client, so that others are sure to be cut off.
          if (starts.length === 80) await service.end('SIGKILL');
        }
      });
      await Promise.all(clients);
      const firstAnswers = new Map(starts.map(({ marker, answer }) => [marker, answer]));
      expect(starts.some(({ answer }) => answer.kind === 'cut')).toBe(true);
      expect(starts.find(({ answer }) => answer.kind === 'refused' && answer.status !== 503)).toBeUndefined();

      client.url = (await (await world().spawn(command)).ready()).url;
      await world().worker();
      const retried = await Promise.all(starts.map((start) => retryUntilAccepted(client, workflow, start)));
      const rows = await allFinished(db, workflow);
      expect(rows).toHaveLength(markers.length);
      expect(new Set(rows.map((row) => row.marker))).toEqual(new Set(markers));
      expect(rows.filter((row) => row.status !== 'completed')).toEqual([]);
      for (const { marker, answer } of retried) {
        const first = firstAnswers.get(marker);
        if (first?.kind === 'accepted') {
          expect(answer).toMatchObject({ isReplay: true, executionId: first.executionId });
        }
      }
      const keys = Map.groupBy(receiver.to(path), (request) => (request.body as { marker: string }).marker);
      expect(keys.size).toBe(markers.length);
      for (const requests of keys.values())
        expect(new Set(requests.map((each) => each.deliveryKey)).size).toBe(1);
    },
  );
});
