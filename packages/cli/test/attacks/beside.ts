import { Client, chain, set } from '../faults/support/client.ts';
import { type ExecutionRow, readExecutions } from '../faults/support/ledger.ts';
import type { Receiver } from '../faults/support/receiver.ts';
import { addOrganisation, type World } from '../faults/support/world.ts';
import { NEVER_SHEDS } from '../never-sheds.ts';
import { type Attack, SLOW_PATH, type Sources } from './attacks.ts';

/** Small limits, so that attacks needn't be large. However busy the machine is, no lease ends, and nothing is refused for it. */
export const ENVIRONMENT = {
  ...NEVER_SHEDS,
  MILLRACE_LEASE_MS: '120000',
  MILLRACE_EXECUTION_LIMIT: '16MiB',
  MILLRACE_DATA_BUDGET: '32MiB',
};

/** Starts of one request. */
const BATCH = 500;
/** The bystander starts at least as many, even if the attack is over before. */
const MIN_STARTS = 10;

/** One start of the bystander: how long until it was seen completed, in milliseconds. */
export interface Glance {
  readonly executionId: number;
  readonly status: string;
  readonly ms: number;
}

/** Both sides of an attack. */
export interface Outcome {
  readonly glances: readonly Glance[];
  readonly attackers: readonly ExecutionRow[];
  /** Of the requests that are to be refused. */
  readonly statuses: readonly number[];
}

/** An organisation that starts a small workflow all the time, and one that attacks. */
export class Arena {
  readonly #world: World;
  readonly #attacker: Client;
  readonly #bystander: Client;
  readonly #workflowId: number;

  private constructor(world: World, attacker: Client, bystander: Client, workflowId: number) {
    this.#world = world;
    this.#attacker = attacker;
    this.#bystander = bystander;
    this.#workflowId = workflowId;
  }

  static async create(world: World, url: string, sources: Sources): Promise<Arena> {
    for (const [path, body] of Object.entries(sources)) serve(world.receiver, path, body);
    const bystander = new Client(url, await addOrganisation(world.db, 'Bystander'));
    const attacker = new Client(url, world.apiKey);
    const workflowId = await bystander.createWorkflow('small', chain(set('greet', { text: 'Hello' })));
    return new Arena(world, attacker, bystander, workflowId);
  }

  get bystandersWorkflow(): number {
    return this.#workflowId;
  }

  /** The bystander alone. */
  async calm(starts: number): Promise<Glance[]> {
    const glances: Glance[] = [];
    while (glances.length < starts) glances.push(await this.#glance());
    return glances;
  }

  /**
   * The bystander, from before the attack until all of its executions have ended.
   * @param fewest starts of the bystander
   */
  async during(attack: Attack, fewest = MIN_STARTS): Promise<Outcome> {
    const { db, receiver } = this.#world;
    const hold = receiver.hold(SLOW_PATH, attack.starts);
    const workflowId = await this.#attacker.createWorkflow(
      attack.name,
      attack.flow((path) => receiver.url(path)),
    );
    const statuses: number[] = [];
    const started = Promise.all([
      this.#startAll(workflowId, attack.starts),
      this.#startRefused(workflowId, attack.refused, statuses),
    ]);
    const glances: Glance[] = [];
    let isStarted = false;
    void started.finally(() => {
      isStarted = true;
    });
    for (let open = true; open || glances.length < fewest; ) {
      glances.push(await this.#glance());
      if (glances.length >= fewest && isStarted) hold.release();
      const rows = await readExecutions(db, workflowId);
      open = !isStarted || rows.some((row) => row.completed_at === null);
    }
    await started;
    return { glances, attackers: await readExecutions(db, workflowId), statuses };
  }

  async #startAll(workflowId: number, count: number): Promise<void> {
    for (let left = count; left > 0; left -= BATCH) {
      const items = Array.from({ length: Math.min(left, BATCH) }, () => ({
        key: null,
        input: { marker: 'attack' },
      }));
      const answers = await this.#attacker.startBatch(workflowId, items);
      const refused = answers.find(({ kind }) => kind !== 'accepted');
      if (refused !== undefined) throw new Error(`A start was not accepted: ${JSON.stringify(refused)}`);
    }
  }

  async #startRefused(workflowId: number, refused: Attack['refused'], statuses: number[]): Promise<void> {
    if (refused === undefined) return;
    while (statuses.length < refused.count) {
      const response = await this.#attacker.postText(`/workflows/${workflowId}/execute`, refused.body);
      await response.text();
      statuses.push(response.status);
    }
  }

  async #glance(): Promise<Glance> {
    const startedAt = performance.now();
    const executionId = await this.#bystander.accept(this.#workflowId, 'bystander');
    for (;;) {
      const { status } = await this.#bystander.get<{ status: string }>(`/executions/${executionId}?wait=30`);
      const isOver = status !== 'queued' && status !== 'running';
      if (isOver) return { executionId, status, ms: performance.now() - startedAt };
    }
  }
}

function serve(receiver: Receiver, path: string, body: string): void {
  receiver.on(path, () => ({ status: 200, body }));
}
