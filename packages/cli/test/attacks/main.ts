import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { prepareDataDir } from '@millrace/testing/prepared-data-dir';
import { VARIABLES } from '../../src/settings/variables.ts';
import { freshFolder, removeOwnFolder } from '../faults/support/folders.ts';
import type { Environment } from '../faults/support/service-process.ts';
import { World } from '../faults/support/world.ts';
import { type Attack, attacksOf, sourcesOf } from './attacks.ts';
import { Arena, ENVIRONMENT, type Glance } from './beside.ts';
import { HEAD, type Measured, recordIn, rowOf, type Times } from './record.ts';

/*
 * Prints how long another organisation's small starts take, from the request until they are seen completed, alone and beside each attack, as a
 * ratio: the machine counts out as far as it is the same for both. Before each attack, the bystander is alone again. All of it is measured twice:
 * where the bystander needs the worker that is attacked, and with the default settings, by which its workflow completes in the API.
 *
 *   npm run test:attacks [-- part of a name]
 *   npm run test:attacks -- --record    rewrites the table in docs/reliability.md
 */

const SCALE = { items: 20_000, answers: 60, requests: 40, slowCalls: 1_500, queued: 5_000 };
const CALM_STARTS = 60;
/** Each attack is repeated until the bystander has started as many beside it: of ten, the slowest would be the p95. */
const BESIDE_STARTS = 40;
const PAGE = join(import.meta.dirname, '../../../../docs/reliability.md');

function p95(glances: readonly Glance[]): number {
  const times = glances.map(({ ms }) => ms).toSorted((a, b) => a - b);
  return times[Math.ceil(times.length * 0.95) - 1] ?? 0;
}

/** One way to run the bystander: processes, database and organisations of its own. */
async function openArena(preparedDataDir: string, environment: Environment): Promise<[World, Arena]> {
  const world = await World.create({ preparedDataDir }, { ...ENVIRONMENT, ...environment });
  const api = await world.api();
  await world.worker();
  const arena = await Arena.create(world, api.url, sourcesOf(SCALE));
  await arena.calm(CALM_STARTS);
  return [world, arena];
}

async function measure(arena: Arena, attack: Attack): Promise<Times> {
  const alone = p95(await arena.calm(CALM_STARTS));
  const glances: Glance[] = [];
  while (glances.length < BESIDE_STARTS) glances.push(...(await arena.during(attack, 1)).glances);
  return { alone, beside: p95(glances) };
}

async function main(part: string, isRecorded: boolean): Promise<void> {
  const preparedDataDir = freshFolder('prepared');
  await prepareDataDir(preparedDataDir);
  const worlds: World[] = [];
  try {
    const [first, byWorker] = await openArena(preparedDataDir, {});
    worlds.push(first);
    const nodes = { MILLRACE_RUN_AHEAD_NODES: VARIABLES.MILLRACE_RUN_AHEAD_NODES.fallback };
    const [second, byDefault] = await openArena(preparedDataDir, nodes);
    worlds.push(second);
    for (const line of HEAD) console.log(line);
    const measured: Measured[] = [];
    for (const attack of attacksOf(SCALE).filter(({ name }) => name.includes(part))) {
      measured.push({
        name: attack.name,
        byWorker: await measure(byWorker, attack),
        byDefault: await measure(byDefault, attack),
      });
      console.log(rowOf(measured.at(-1) as Measured));
    }
    if (isRecorded) await writeFile(PAGE, recordIn(await readFile(PAGE, 'utf8'), measured));
  } finally {
    for (const world of worlds) await world.destroy();
    await removeOwnFolder();
  }
}

const { values, positionals } = parseArgs({
  options: { record: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const [part = ''] = positionals;
// The table would lose the others.
if (values.record && part !== '') throw new Error('--record needs all attacks');
await main(part, values.record);
