import { longDatabase, newDatabase } from '../growth/databases.ts';
import type { Grown } from '../growth/history.ts';
import { besides, readingsOf, withBoth } from '../growth/loads.ts';
import { pagesOf, READS, type Read } from '../growth/reads.ts';
import type { Bench, Readings, Row } from '../row.ts';
import type { ServerProcess } from '../server-process.ts';
import { percentile } from '../statistics.ts';

/** Requests at a stretch; the first of a process cost more, because they are compiled. */
const REQUESTS = { warming: 5, measured: 25 };
/** What is read may take this much more time than in the new database, and no list longer than this. */
const MOST = { ratio: 1.5, ms: 10 };

/**
 * Every list and filter with a long history and in a new database, which has one page of executions for each organisation. What is read is read
 * one request after the other.
 */
export const growthReadsRow: Row = {
  id: 'growth-reads',
  isNamedOnly: true,
  metrics: READS.flatMap(({ id, label }) => besides(id, label, 'ms')),
  async measure(bench) {
    const databases = [await newDatabase(bench), await longDatabase(bench)] as const;
    return withBoth(bench, databases, 'api', (servers) => readAll(bench, databases, servers));
  },
};

async function readAll(
  bench: Bench,
  databases: readonly [Grown, Grown],
  servers: readonly [ServerProcess, ServerProcess],
): Promise<Readings> {
  let readings: Readings = {};
  const time = (place: 0 | 1, read: Read, count: number) =>
    timeRead(bench, servers[place], databases[place], read, count);
  for (const place of [0, 1] as const) {
    for (const read of READS) await time(place, { ...read, depth: 0 }, REQUESTS.warming);
  }
  for (const read of READS) {
    const took: [number[], number[]] = [[], []];
    // There and back, so that what grows slower or faster meanwhile does so for both. A deep page has to be looked for each time.
    const turns = read.depth === undefined ? ([0, 1, 1, 0] as const) : ([0, 1] as const);
    for (const place of turns) took[place].push(...(await time(place, read, REQUESTS.measured)));
    const times: [number, number] = [percentile(took[0], 0.5), percentile(took[1], 0.5)];
    if (times[1] > MOST.ms || times[1] > MOST.ratio * times[0]) {
      bench.progress(`${read.label}: ${times.map((ms) => ms.toFixed(1)).join(' -> ')} ms`);
    }
    readings = { ...readings, ...readingsOf(read.id, times) };
  }
  return readings;
}

async function timeRead(
  { load }: Bench,
  { baseUrl }: ServerProcess,
  database: Grown,
  { by, path, depth = 0 }: Read,
  count: number,
): Promise<readonly number[]> {
  const { tookMs } = await load.sequence({
    url: `${baseUrl}${path(database)}`,
    headers: by === 'key' ? database.tenant.headers : { cookie: database.cookie },
    count,
    skipPages: Math.floor(pagesOf(database) * depth),
  });
  return tookMs;
}
