import { type Effect, isFinalStatus, type NodeRecord } from '../../src/index.ts';
import type { MemoryStore } from './memory-store.ts';
import type { StoredExecution } from './store-harness.ts';
import { isEnded, nameOf } from './world-schedule.ts';

/** Invariants at any time of a simulation, whatever its workers do. */
export class Invariants {
  readonly #store: MemoryStore;
  readonly #seed: number;
  /** Final executions as they were first found. */
  readonly #finals = new Map<number, string>();

  constructor(store: MemoryStore, seed: number) {
    this.#store = store;
    this.#seed = seed;
  }

  /** @throws always, with the seed to reproduce it */
  broken(what: string): never {
    throw new Error(`${what} (seed ${this.#seed})`);
  }

  read(id: number): StoredExecution {
    return this.#store.read(id) ?? this.broken(`execution ${id} was lost`);
  }

  /** Final executions never change, and nobody waits in vain: a child never outlives a parent that waits for it. */
  checkAll(): void {
    const all = this.#store.overview();
    const statuses = new Map(all.map(({ request, status }) => [request.executionId, status]));
    for (const { request, status } of all) {
      this.#checkFinal(request.executionId);
      const { parent } = request;
      const around = parent === undefined ? undefined : statuses.get(parent.executionId);
      const isLeft = around !== undefined && isFinalStatus(around) && !isFinalStatus(status);
      if (isLeft && parent?.waits === true) this.broken(`child ${request.executionId} outlived its parent`);
    }
  }

  #checkFinal(id: number): void {
    const stored = this.read(id);
    const text = JSON.stringify(stored);
    const before = this.#finals.get(id);
    if (before !== undefined && before !== text) this.broken(`execution ${id} changed after its end`);
    if (isFinalStatus(stored.status)) this.#finals.set(id, text);
  }

  /** An effect node starts after a checkpoint that records it, and not again once its end is stored. */
  checkStart(
    { node, iteration, resumed }: Extract<Effect, { kind: 'start_node' }>,
    { records }: StoredExecution,
  ): void {
    if (node.kind !== 'effect') return;
    const name = nameOf(node.id, iteration);
    const record = records.findLast((one: NodeRecord) => nameOf(one.nodeId, one.iteration) === name);
    if (record?.status !== (resumed === undefined ? 'running' : 'waiting'))
      this.broken(`${name} started without a checkpoint`);
    if (isEnded(record)) this.broken(`${name} was run again after it had ended`);
  }

  /** No workflow exceeds its limit of running executions. */
  checkRunning(workflowIds: Iterable<number>, most: number): void {
    for (const id of workflowIds) {
      const running = this.#store
        .overview()
        .filter(({ request, status }) => request.workflowId === id && status === 'running');
      if (running.length > most) this.broken(`workflow ${id} runs too often`);
    }
  }
}
