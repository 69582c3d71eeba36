import { collectDefaultMetrics, Registry } from 'prom-client';

/**
 * Of what is open, only `nodejs_active_resources` is kept. `process._getActiveHandles()`, from which the library makes the others, ends the process with a
 * failed assertion (`AsyncWrap::GetOwner`) if a handle is just being collected as garbage. The totals are gauges with the suffix of a counter.
 */
const LEFT_OUT = [
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

let measured: Registry | null = null;

/** CPU time, memory, garbage collection, event loop and open files of this process. They belong to the process, so there is one of these. */
export function processMetrics(): Registry {
  if (measured === null) {
    measured = new Registry();
    collectDefaultMetrics({ register: measured });
    for (const name of LEFT_OUT) measured.removeSingleMetric(name);
  }
  return measured;
}
