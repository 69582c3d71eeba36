import { randomUUID } from 'node:crypto';
import { claimExecutions } from '../../packages/runtime/src/lease-statements.ts';
import { ROOM_FOR_ALL } from '../../packages/runtime/src/room-statements.ts';
import { longDatabase, newDatabase } from '../growth/databases.ts';
import type { Grown } from '../growth/history.ts';
import { besides, rateOfCompleted, readingsOf, startLoad, withBoth } from '../growth/loads.ts';
import type { Bench, Readings, Row } from '../row.ts';
import type { ServerProcess } from '../server-process.ts';
import { percentile } from '../statistics.ts';

const CLAIMS = 20;
const QUEUED = 100_000;

const LOADS = [
  { id: 'accepted', label: 'accepted, 1 node, api only' },
  { id: 'completed', label: 'completed, 3 nodes' },
] as const;
const CLAIM = { id: 'claim', label: `claim of 10, ${QUEUED} queued` };

/** Starts with a long history and in a new database, and a claim among many that wait. */
export const growthStartsRow: Row = {
  id: 'growth-starts',
  isNamedOnly: true,
  metrics: [
    ...LOADS.flatMap(({ id, label }) => besides(id, label, '/s')),
    ...besides(CLAIM.id, CLAIM.label, 'ms'),
  ],
  async measure(bench) {
    const databases = [await newDatabase(bench), await longDatabase(bench)] as const;
    return { ...(await measureClaims(databases)), ...(await measureLoads(bench, databases)) };
  },
};

/** Claims are rolled back, so each finds the same. */
async function measureClaims(databases: readonly [Grown, Grown]): Promise<Readings> {
  const times: number[] = [];
  for (const database of databases) times.push(await timeClaim(database));
  return readingsOf(CLAIM.id, times as [number, number]);
}

async function timeClaim(database: Grown): Promise<number> {
  const { db, tenant, oneNodeId } = database;
  const workerId = randomUUID();
  await db.query(
    "INSERT INTO workers (id, host, pid, lease_expires_at) VALUES ($1, 'bench', 1, now() + interval '1 hour')",
    [workerId],
  );
  await db.query(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input)
     SELECT $1, $2, 1, 'queued', 'api', 'queued', false, '{}' FROM generate_series(1, $3::integer)`,
    [tenant.organisationId, oneNodeId, QUEUED],
  );
  await db.exclusive(async (session) => {
    await session.query('VACUUM (ANALYZE) executions');
  });
  const shares = {
    ...{ free: 10, held: new Map<number, number>(), largestPercent: 100 },
    ...{ afterOrganisation: 0, takenOfTurn: 0, isTurnOfOldest: false },
  };
  const tookMs: number[] = [];
  for (let claim = 0; claim < CLAIMS; claim += 1) {
    await db
      .transaction(async (tx) => {
        const began = performance.now();
        const claimed = await claimExecutions(tx, workerId, 10, 3, shares, ROOM_FOR_ALL);
        tookMs.push(performance.now() - began);
        if (claimed.length !== 10) throw new Error(`a claim of 10 got ${claimed.length}`);
        throw new Undo();
      })
      .catch((error: unknown) => {
        if (!(error instanceof Undo)) throw error;
      });
  }
  await deleteQueued(database);
  await db.query('DELETE FROM workers WHERE id = $1', [workerId]);
  return percentile(tookMs, 0.5);
}

/** And what is left of them: lists that are read afterwards, by this run or the next one, would step over it. */
async function deleteQueued({ db }: Grown): Promise<void> {
  await db.query("DELETE FROM executions WHERE status = 'queued'");
  await db.exclusive(async (session) => {
    await session.query('VACUUM executions');
  });
}

class Undo extends Error {}

async function measureLoads(bench: Bench, databases: readonly [Grown, Grown]): Promise<Readings> {
  const accepted = await withBoth(bench, databases, 'api', async ([first, second]) => {
    const rate = async (server: ServerProcess, database: Grown) => {
      const { perSecond } = await startLoad(bench, server, database, database.oneNodeId);
      await deleteQueued(database);
      return perSecond;
    };
    await rate(first, databases[0]);
    await rate(second, databases[1]);
    return [await rate(first, databases[0]), await rate(second, databases[1])] as const;
  });
  const completed = await withBoth(bench, databases, 'start', async ([first, second]) => {
    const rate = (server: ServerProcess, database: Grown) => rateOfCompleted(bench, server, database);
    await rate(first, databases[0]);
    await rate(second, databases[1]);
    return [await rate(first, databases[0]), await rate(second, databases[1])] as const;
  });
  return { ...readingsOf('accepted', accepted), ...readingsOf('completed', completed) };
}
