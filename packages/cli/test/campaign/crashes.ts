import { LEASE_MS } from '../faults/support/service-process.ts';
import type { TakeOver } from './claims.ts';
import type { Evidence } from './evidence.ts';
import type { Injected } from './injector.ts';

/** A lease is taken over soon after it expires; a busy machine needs longer. */
const TAKE_OVER_MS = LEASE_MS + 15_000;

/** Crashes of executions that were counted, and the faults behind them. */
export class Crashes {
  readonly #evidence: Pick<Evidence, 'faults' | 'processes'>;
  readonly #byExecution: ReadonlyMap<number, readonly TakeOver[]>;

  constructor(evidence: Pick<Evidence, 'faults' | 'processes' | 'takeOvers'>) {
    this.#evidence = evidence;
    const crashes = evidence.takeOvers.filter(({ isCrash }) => isCrash);
    this.#byExecution = Map.groupBy(crashes, ({ executionId }) => executionId);
  }

  /** Whether three crashes of it were counted, each of a process that was hit by a fault just before. */
  wereInjected(executionId: number): boolean {
    const crashes = this.#byExecution.get(executionId) ?? [];
    return crashes.length >= 3 && crashes.every((crash) => this.causeOf(crash) !== null);
  }

  /** Crashes without a fault: the machine kept the process from its heartbeat. */
  get unexplained(): readonly TakeOver[] {
    return [...this.#byExecution.values()].flat().filter((crash) => this.causeOf(crash) === null);
  }

  /** The last fault that can be why an execution was taken from a process. */
  causeOf({ fromPid, atMs }: TakeOver): Injected | null {
    const causes = this.#evidence.faults.filter((injected) => {
      const isInTime = injected.startedAtMs < atMs && atMs - injected.endedAtMs < TAKE_OVER_MS;
      return isInTime && costsLeases(injected, fromPid);
    });
    return causes.toSorted((a, b) => a.startedAtMs - b.startedAtMs).at(-1) ?? null;
  }
}

function costsLeases({ fault, pid }: Injected, fromPid: number | null): boolean {
  switch (fault.kind) {
    case 'kill postgres':
    case 'stop postgres':
    case 'fill disk':
    case 'terminate sessions':
      return true;
    case 'receiver':
    case 'step clock':
      return false;
    default:
      return pid === fromPid;
  }
}
