import type { Meters } from '@millrace/runtime/meters/meters';
import type { StorageLimits } from '@millrace/service/settings';
import type { Snapshots } from '@millrace/service/system/snapshot';
import { AggregatorRegistry, Registry } from 'prom-client';
import { METRICS } from './catalogue.ts';
import { processMetrics } from './process-metrics.ts';
import { type PoolReading, takeSamples } from './samples.ts';

/** Prometheus gives up after 10 seconds by default. */
const DATABASE_TIMEOUT_MS = 2_000;

export interface MetricsPageDeps {
  readonly meters: Meters;
  readonly pool: PoolReading;
  readonly snapshots: Snapshots;
  readonly limits: StorageLimits;
  /** How long a scrape waits for the database; 2 seconds if undefined. */
  readonly timeoutMs?: number;
}

/** The page that Prometheus reads. */
export type MetricsPage = () => Promise<string>;

export const METRICS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** Scrapes at the same time share one page. */
export function createMetricsPage(deps: MetricsPageDeps): MetricsPage {
  let underWay: Promise<string> | null = null;
  return () => {
    underWay ??= render(deps).finally(() => {
      underWay = null;
    });
    return underWay;
  };
}

async function render(deps: MetricsPageDeps): Promise<string> {
  const { meters, pool, snapshots, limits, timeoutMs = DATABASE_TIMEOUT_MS } = deps;
  const reading = await snapshots.read(timeoutMs);
  meters.rearrange(performance.now());
  const metrics = [];
  for (const [name, values] of takeSamples(meters, pool, reading, limits)) {
    const { type, help } = METRICS[name];
    metrics.push({ name, type, help, values, aggregator: 'first' });
  }
  // How the library takes metrics that were counted elsewhere.
  const registry = AggregatorRegistry.aggregate([metrics]);
  return `${await registry.metrics()}\n${await processMetrics().metrics()}`;
}
