import { collectDefaultMetrics, Registry } from 'prom-client';

let registry: Registry | null = null;

/** CPU time, memory, garbage collection, event loop and open files of this process. They belong to the process, so there is one of these. */
export function processMetrics(): Registry {
  if (registry === null) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return registry;
}
