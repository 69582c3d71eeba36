import { collectDefaultMetrics, Registry } from 'prom-client';

/** Gauges with the suffix of a counter; the same metrics by type are kept. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

let measured: Registry | null = null;

/** CPU time, memory, garbage collection, event loop and open files of this process. They belong to the process, so there is one of these. */
export function processMetrics(): Registry {
  if (measured === null) {
    measured = new Registry();
    collectDefaultMetrics({ register: measured });
    for (const name of MISNAMED) measured.removeSingleMetric(name);
  }
  return measured;
}
