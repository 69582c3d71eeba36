import { prepareDataDir } from '@millrace/testing/prepared-data-dir';
import { freshFolder, removeOwnFolder } from '../faults/support/folders.ts';
import { World } from '../faults/support/world.ts';
import { attacksOf, sourcesOf } from './attacks.ts';
import { Arena, ENVIRONMENT, type Glance } from './beside.ts';

/*
 * Prints how long another organisation's small starts take, from the request until they are seen completed, alone and beside each attack, as a
 * ratio: the machine counts out as far as it is the same for both. Before each attack, the bystander is alone again.
 *
 *   npm run test:attacks [-- part of a name]
 */

const SCALE = { items: 20_000, answers: 60, slowCalls: 1_500, queued: 5_000 };
const CALM_STARTS = 60;

function p95(glances: readonly Glance[]): number {
  const times = glances.map(({ ms }) => ms).toSorted((a, b) => a - b);
  return times[Math.ceil(times.length * 0.95) - 1] ?? 0;
}

async function main(part: string): Promise<void> {
  const preparedDataDir = freshFolder('prepared');
  await prepareDataDir(preparedDataDir);
  const world = await World.create({ preparedDataDir }, ENVIRONMENT);
  try {
    const api = await world.api();
    await world.worker();
    const arena = await Arena.create(world, api.url, sourcesOf(SCALE));
    await arena.calm(CALM_STARTS);
    console.log('| Attack | Executions | Bystander: starts | p95 alone | p95 beside it | Ratio |');
    console.log('|---|---:|---:|---:|---:|---:|');
    for (const attack of attacksOf(SCALE).filter(({ name }) => name.includes(part))) {
      const alone = p95(await arena.calm(CALM_STARTS));
      const { glances } = await arena.during(attack);
      const beside = p95(glances);
      const cells = [
        attack.name,
        attack.starts,
        glances.length,
        ms(alone),
        ms(beside),
        (beside / alone).toFixed(1),
      ];
      console.log(`| ${cells.join(' | ')} |`);
    }
  } finally {
    await world.destroy();
    await removeOwnFolder();
  }
}

function ms(value: number): string {
  return `${Math.round(value)} ms`;
}

await main(process.argv[2] ?? '');
