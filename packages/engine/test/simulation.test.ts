import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arbitraryFlow, differenceOf, evaluateFlow, planOf } from './support/index.ts';
import { Simulation } from './support/simulation.ts';
import { isEnded } from './support/world.ts';

/** Seeds that found something once; they are run for ever. One line says what it was. */
const REGRESSIONS: readonly number[] = [];

/** `MILLRACE_SEED=n` runs that one only. */
const only = process.env.MILLRACE_SEED;
const SEEDS =
  only === undefined ? [...REGRESSIONS, ...Array.from({ length: 30 }, (_, n) => n + 1)] : [Number(only)];

const CALM = { crash: 0, sleep: 0, cancel: 0 };
const ROUGH = { crash: 0.004, sleep: 0.01, cancel: 0.002 };

async function simulate(seed: number, trouble: typeof ROUGH): Promise<Record<string, number>> {
  const flows = fc.sample(arbitraryFlow(6), { seed, numRuns: 12 });
  const plans = flows.map(planOf);
  const { executions } = await new Simulation({ seed, plans, workers: 3, trouble }).run();
  const count: Record<string, number> = {};
  executions.forEach((execution, place) => {
    count[execution.status] = (count[execution.status] ?? 0) + 1;
    const expected = evaluateFlow(flows[place] ?? { nodes: [], edges: [] });
    const failing = [...expected].filter(([, node]) => node.failsExecution).map(([id]) => id);
    const latest = new Map(execution.records.map((record) => [record.nodeId, record]));
    for (const [id, record] of latest) {
      const node = expected.get(id);
      if (node !== undefined && isEnded(record))
        expect(differenceOf(record, node), `seed ${seed}`).toBeNull();
    }
    if (execution.status === 'completed') {
      expect(failing, `seed ${seed}`).toEqual([]);
      expect(latest.size, `seed ${seed}`).toBe(expected.size);
    } else if (execution.status === 'failed' && execution.error?.code !== 'worker_crashed') {
      expect(failing, `seed ${seed}`).toContain(execution.error?.nodeId);
    }
  });
  return count;
}

describe('simulation', () => {
  it('S13 E12: without trouble every execution ends as the model says', async () => {
    for (const seed of SEEDS.slice(0, 10)) {
      const count = await simulate(seed, CALM);
      expect(count.cancelled ?? 0, `seed ${seed}`).toBe(0);
    }
  });

  it('S13 E12 E18: workers that crash, sleep and race with cancels lose and spoil nothing', async () => {
    const total: Record<string, number> = {};
    for (const seed of SEEDS) {
      for (const [status, count] of Object.entries(await simulate(seed, ROUGH))) {
        total[status] = (total[status] ?? 0) + count;
      }
    }
    // The trouble must not be so great that nothing is left to be checked.
    if (only === undefined) expect(total.completed ?? 0).toBeGreaterThan(SEEDS.length);
  });
});
