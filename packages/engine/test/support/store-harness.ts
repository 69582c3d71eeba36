import type { ExecutionStore, StartRequest } from '../../src/index.ts';
import type { StoredExecution } from './memory-store.ts';

/** A store and the means to simulate time and other machines. No other test may use the same data. */
export interface StoreHarness {
  readonly store: ExecutionStore;
  /** An unregistered worker id in the store's format. */
  newWorkerId(): string;
  /** A request that the store accepts: its organisation and workflow exist. Always the same organisation. */
  newRequest(executionId: number): StartRequest;
  /** Expires the lease of a worker. */
  expireLease(workerId: string): Promise<void>;
  /** Ends the wait of a parked execution. */
  endWait(executionId: number): Promise<void>;
  /** Epoch milliseconds by the store's clock. */
  now(): Promise<number>;
  readExecution(executionId: number): Promise<StoredExecution | null>;
  cleanup(): Promise<void>;
}
