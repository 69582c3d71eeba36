import { runSeed, runs } from '@millrace/testing/property-runs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Flow } from '../src/index.ts';
import { agree } from './support/agreement.ts';
import { arbitraryFlow, planOf, type StoredExecution } from './support/index.ts';
import { Simulation } from './support/simulation.ts';

/** Seeds that once found a bug; they always run. Describe each in one line. */
const REGRESSIONS: readonly number[] = [];

const SEEDS = [...Array.from({ length: runs(30) }, (_, n) => runSeed() + n), ...REGRESSIONS];

const CALM = { crash: 0, sleep: 0, cancel: 0 };
const ROUGH = { crash: 0.004, sleep: 0.01, cancel: 0.002 };
/** Workflows that are called, by number. */
const CALLED = [0, 1, 2];

type Counts = Record<string, number>;

async function simulate(seed: number, trouble: typeof ROUGH): Promise<Counts> {
  const kinds = { loops: 2, signals: true, stops: true, hangs: true };
  const flows = fc.sample(arbitraryFlow(5, { ...kinds, children: CALLED }), { seed, numRuns: 10 });
  // Each calls only later ones, so that no chain of calls is endless.
  const called = CALLED.map((number): Flow => {
    const own = { ...kinds, loops: 1, children: CALLED.slice(number + 1) };
    const [flow] = fc.sample(arbitraryFlow(3, own), { seed: seed * 10 + number, numRuns: 1 });
    return flow ?? { nodes: [], edges: [] };
  });
  const options = { seed, plans: flows.map(planOf), children: called.map(planOf), workers: 3, trouble };
  const { executions, children } = await new Simulation(options).run();
  const count: Counts = {};
  const add = (name: string): void => {
    count[name] = (count[name] ?? 0) + 1;
  };
  const check = (flow: Flow | undefined, execution: StoredExecution, name: string): void => {
    const { error } = execution;
    if (error?.code === 'execution_timeout') add('timed out');
    if (error?.code === 'worker_crashed') return;
    expect(() => agree(flow ?? { nodes: [], edges: [] }, execution), `seed ${seed}, ${name}`).not.toThrow();
  };
  executions.forEach((execution, place) => {
    add(execution.status);
    check(flows[place], execution, `execution ${place + 1}`);
  });
  children.forEach(({ execution, workflow, waits, depth }, place) => {
    const { status } = execution;
    add(waits ? `waited for, ${status}` : 'not waited for');
    if (depth > 1 && waits) add(`grandchild, ${status}`);
    check(called[workflow], execution, `child ${place + 1}`);
  });
  return count;
}

function sum(total: Counts, counts: Counts): void {
  for (const [name, count] of Object.entries(counts)) total[name] = (total[name] ?? 0) + count;
}

describe('simulation', () => {
  it('S13 S16 S17 E12: without trouble every execution ends as the model says', async () => {
    const total: Counts = {};
    for (const seed of SEEDS.slice(0, runs(10))) {
      const count = await simulate(seed, CALM);
      expect(count.cancelled ?? 0, `seed ${seed}`).toBe(0);
      sum(total, count);
    }
    expect(total['waited for, completed'] ?? 0).toBeGreaterThan(10);
  });

  it('S13 S15 S17 S18 S19 E12 E18 W3: workers that crash, sleep and race with cancels lose and corrupt nothing', async () => {
    const total: Counts = {};
    for (const seed of SEEDS) sum(total, await simulate(seed, ROUGH));
    // The disruption must not be so great that nothing is left to check.
    expect(total.completed ?? 0).toBeGreaterThan(SEEDS.length);
    expect(total['waited for, completed'] ?? 0).toBeGreaterThan(SEEDS.length);
    expect(total['waited for, cancelled'] ?? 0).toBeGreaterThan(0);
    expect(total['grandchild, completed'] ?? 0).toBeGreaterThan(0);
    expect(total['grandchild, cancelled'] ?? 0).toBeGreaterThan(0);
    expect(total['timed out'] ?? 0).toBeGreaterThan(0);
  });
});
