import { beforeAll, expect, it } from 'vitest';
import { readExecutions } from '../faults/support/ledger.ts';
import { useWorld } from '../faults/support/use-world.ts';
import { attacksOf, sourcesOf } from './attacks.ts';
import { Arena, ENVIRONMENT } from './beside.ts';

/** Enough to take minutes, or all memory, where something compares all pairs or isn't bounded. */
const SCALE = { items: 10_000, answers: 20, requests: 5, slowCalls: 200, queued: 1_000 };
/** However busy the machine is: what isn't bounded holds the main thread for longer. */
const MAX_HOLD_MS = 30_000;
const HELD = 'main thread held by an execution';
/** Attacks on one worker. */
const AT_A_TIME = 4;

const world = useWorld(ENVIRONMENT);
let arena: Arena;
beforeAll(async () => {
  const api = await world().api();
  arena = await Arena.create(world(), api.url, sourcesOf(SCALE));
});

const attacks = attacksOf(SCALE);
const groups = Array.from({ length: Math.ceil(attacks.length / AT_A_TIME) }, (_, n) =>
  attacks.slice(n * AT_A_TIME, (n + 1) * AT_A_TIME),
);

it.each(groups.map((group) => [group.map(({ name }) => name).join(', '), group] as const))(
  'another organisation goes on beside: %s',
  async (_, group) => {
    const worker = await world().worker();
    const lease = await world().leaseOf(worker);
    for (const attack of group) {
      const { glances, attackers, statuses } = await arena.during(attack);
      expect(new Set(glances.map(({ status }) => status)), attack.name).toEqual(new Set(['completed']));
      const ends = attackers.map(({ status, error }) =>
        error === null ? status : (JSON.parse(error) as { code: string }).code,
      );
      expect(ends, attack.name).toEqual(Array.from({ length: attack.starts }, () => attack.end));
      const { count, status } = attack.refused ?? { count: 0, status: 0 };
      expect(statuses, attack.name).toEqual(Array.from({ length: count }, () => status));
      expect(attackers.filter(({ crashed_attempts: crashes }) => crashes > 0)).toEqual([]);
    }
    // Nobody is blamed: the worker has kept its lease.
    expect(worker.isRunning).toBe(true);
    expect(await world().leaseOf(worker)).toBe(lease);
    const held = worker.output
      .split('\n')
      .filter((line) => line.includes(HELD))
      .map((line) => (JSON.parse(line) as { ms: number }).ms);
    expect(held.filter((ms) => ms > MAX_HOLD_MS)).toEqual([]);
  },
);

it('no start of the bystander was lost, and none counted a crash', async () => {
  const rows = await readExecutions(world().db, arena.bystandersWorkflow);
  expect(rows.length).toBeGreaterThan(attacks.length);
  expect(rows.filter((each) => each.status !== 'completed' || each.crashed_attempts > 0)).toEqual([]);
});
