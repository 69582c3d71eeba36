/** Helpers for tests of the engine and of implementations of its ports: `@millrace/engine/testing`. */
export { arbitraryFlow, type FlowOptions, flowOf, type NodeSketch, planOf } from './flows.ts';
export { MemoryStore, type MemoryStoreOptions } from './memory-store.ts';
export { PLAIN_SCRIPT, playScript, type Script, testRegistry } from './nodes.ts';
export { differenceOf, type Expected, evaluateFlow } from './reference-model.ts';
export { executionStoreContract } from './store-contract.ts';
export type {
  CompleteStore,
  StartRequest,
  StoredChild,
  StoredExecution,
  StoreHarness,
} from './store-harness.ts';
