import type { ExecutionStore, StartRequest } from '../../src/index.ts';
import type { StoredExecution } from './memory-store.ts';

/** A store and the means to do to it what only time or another machine does. No other test may use the same data. */
export interface StoreHarness {
  readonly store: ExecutionStore;
  /** A worker id of the store's form that is not registered yet. */
  newWorkerId(): string;
  /** A request the store can take: its organisation and workflow exist. Twice the same organisation. */
  newRequest(executionId: number): StartRequest;
  /** Lets the lease of a worker run out. */
  expireLease(workerId: string): Promise<void>;
  /** Lets the time come that a parked execution waits for. */
  endWait(executionId: number): Promise<void>;
  /** Epoch milliseconds by the store's clock. */
  now(): Promise<number>;
  readExecution(executionId: number): Promise<StoredExecution | null>;
  cleanup(): Promise<void>;
}
