import { type Client, chain, post, set } from './client.ts';
import { allFinished } from './ledger.ts';
import type { World } from './world.ts';

/** So many that each worker gets some. */
const EXECUTIONS_PER_WORKER = 4;

/**
 * Lets workers with a short lease run something of what follows. What is loaded and compiled at first use takes a busy machine longer than
 * the lease, and a worker that computes when it loses its lease is taken for the cause.
 */
export async function warmUp(world: World, client: Client, workers: number): Promise<void> {
  const path = `/warm-up-${workers}`;
  const steps = [
    set('prepare', { n: 1 }),
    post('call', world.receiver.url(path)),
    post('again', world.receiver.url(path)),
  ];
  const workflow = await client.createWorkflow(path, chain(...steps));
  for (let n = 0; n < EXECUTIONS_PER_WORKER * workers; n += 1) await client.accept(workflow, 'warm-up');
  await allFinished(world.db, workflow);
}
