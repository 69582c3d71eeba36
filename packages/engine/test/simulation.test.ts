import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agree } from './support/agreement.ts';
import { arbitraryFlow, planOf } from './support/index.ts';
import { Simulation } from './support/simulation.ts';

/** Seeds that found something once; they are run for ever. One line says what it was. */
const REGRESSIONS: readonly number[] = [];

/** `MILLRACE_SEED=n` runs that one only. */
const only = process.env.MILLRACE_SEED;
const SEEDS =
  only === undefined ? [...REGRESSIONS, ...Array.from({ length: 30 }, (_, n) => n + 1)] : [Number(only)];

const CALM = { crash: 0, sleep: 0, cancel: 0 };
const ROUGH = { crash: 0.004, sleep: 0.01, cancel: 0.002 };
const CHILDREN = 3;

type Counts = Record<string, number>;

async function simulate(seed: number, trouble: typeof ROUGH): Promise<Counts> {
  const kinds = { loops: 1, signals: true, stops: true };
  const flows = fc.sample(arbitraryFlow(5, { ...kinds, children: CHILDREN }), { seed, numRuns: 10 });
  const called = fc.sample(arbitraryFlow(3, { signals: true }), { seed, numRuns: CHILDREN });
  const options = { seed, plans: flows.map(planOf), children: called.map(planOf), workers: 3, trouble };
  const { executions, children } = await new Simulation(options).run();
  const count: Counts = {};
  const add = (name: string): void => {
    count[name] = (count[name] ?? 0) + 1;
  };
  executions.forEach((execution, place) => {
    add(execution.status);
    if (execution.error?.code === 'worker_crashed') return;
    const flow = flows[place] ?? { nodes: [], edges: [] };
    expect(() => agree(flow, execution), `seed ${seed}, execution ${place + 1}`).not.toThrow();
  });
  for (const { status, parent, waits } of children) {
    add(waits ? `waited for, ${status}` : 'not waited for');
    if (waits && parent === 'completed' && trouble === CALM) add('completed with its parent');
  }
  return count;
}

function sum(total: Counts, counts: Counts): void {
  for (const [name, count] of Object.entries(counts)) total[name] = (total[name] ?? 0) + count;
}

describe('simulation', () => {
  it('S13 S16 S17 E12: without trouble every execution ends as the model says', async () => {
    const total: Counts = {};
    for (const seed of SEEDS.slice(0, 10)) {
      const count = await simulate(seed, CALM);
      expect(count.cancelled ?? 0, `seed ${seed}`).toBe(0);
      sum(total, count);
    }
    if (only === undefined) expect(total['waited for, completed'] ?? 0).toBeGreaterThan(10);
  });

  it('S13 S15 S17 S18 S19 E12 E18 W3: workers that crash, sleep and race with cancels lose and spoil nothing', async () => {
    const total: Counts = {};
    for (const seed of SEEDS) sum(total, await simulate(seed, ROUGH));
    // The trouble must not be so great that nothing is left to be checked.
    if (only !== undefined) return;
    expect(total.completed ?? 0).toBeGreaterThan(SEEDS.length);
    expect(total['waited for, completed'] ?? 0).toBeGreaterThan(SEEDS.length);
    expect(total['waited for, cancelled'] ?? 0).toBeGreaterThan(0);
  });
});
