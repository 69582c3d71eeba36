import { prune, restAfter } from '../../packages/service/src/retention/prune.ts';
import { waitUntilDrained } from '../executions.ts';
import { longDatabase } from '../growth/databases.ts';
import type { Grown } from '../growth/history.ts';
import { metric, rateOfCompleted, startLoad } from '../growth/loads.ts';
import type { Readings, Row } from '../row.ts';
import { startMillrace } from '../server-process.ts';

/** Long enough for a rate; a million takes several times as long. */
const MAX_MS = 100_000;
const DAY_MS = 86_400_000;

/**
 * Deletes the oldest tenth of a long history, for at most {@link MAX_MS} a round, while starts arrive as fast as they are accepted. With a kept
 * history, the next run goes on.
 */
export const growthPruneRow: Row = {
  id: 'growth-prune',
  isNamedOnly: true,
  metrics: [
    metric('prune', 'executions pruned under load', '/s'),
    metric('prune_p99', 'start while pruning, p99', 'ms'),
    metric('prune_accepted', 'accepted while pruning, compared with before and after', '×'),
  ],
  async measure(bench): Promise<Readings> {
    const database = await longDatabase(bench);
    const keptDays = 0.9 * (await oldestDays(database));
    const folder = await bench.createFolder('growth-prune');
    // Accepts and executes, so that what it accepts doesn't pile up.
    const server = await startMillrace({ command: 'start', databaseUrl: database.url, folder });
    try {
      const accepted = async () => startLoad(bench, server, database, database.threeNodesId);
      await rateOfCompleted(bench, server, database);
      const calm = [await accepted(), await accepted()];
      const began = performance.now();
      let tookMs = 0;
      const pruning = pruneAll(database, keptDays, () => performance.now() - began > MAX_MS).finally(() => {
        tookMs = performance.now() - began;
      });
      const busy: Awaited<ReturnType<typeof accepted>>[] = [];
      // At least once, or a short history would be gone before anything is measured.
      do busy.push(await accepted());
      while (tookMs === 0);
      const executions = await pruning;
      calm.push(await accepted(), await accepted());
      await waitUntilDrained(database.db);
      bench.progress(`${executions} deleted in ${Math.round(tookMs / 1000)} s`);
      if (executions === 0) return {};
      const rates = (loads: typeof busy) => loads.map(({ perSecond }) => perSecond);
      bench.progress(JSON.stringify({ calm: rates(calm), busy: rates(busy) }));
      return {
        'growth.prune': executions / (tookMs / 1000),
        'growth.prune_p99': Math.max(...busy.map(({ p99Ms }) => p99Ms)),
        'growth.prune_accepted': mean(rates(busy)) / mean(rates(calm)),
      };
    } finally {
      await server.stop();
    }
  },
};

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Until nothing is older: the service's own round, which finds nothing, makes others give up. */
async function pruneAll(database: Grown, keptDays: number, isStopping: () => boolean): Promise<number> {
  let total = 0;
  while (!isStopping() && (await oldestDays(database)) > keptDays) {
    total += (await prune(database.db, keeping(keptDays), isStopping, restAfter)).executions;
  }
  return total;
}

/** How old the oldest execution is, whatever has been deleted before. The first one was copied to make the others, so it is new. */
async function oldestDays({ db }: Grown): Promise<number> {
  const [oldest] = await db.query<{ created_at: Date }>(
    'SELECT created_at FROM executions ORDER BY id OFFSET 1 LIMIT 1',
  );
  return (Date.now() - (oldest?.created_at.getTime() ?? 0)) / DAY_MS;
}

function keeping(days: number): Parameters<typeof prune>[1] {
  return {
    executionsDays: { completed: days, failed: days, cancelled: days },
    ...{ auditDays: 365, statisticsDays: 365, idempotencyHours: 24, idleSessionMs: DAY_MS },
  };
}
