import type { PoolState } from '@millrace/database/database';
import { OTHER } from '@millrace/runtime/meters/counts-by-name';
import type { Histogram } from '@millrace/runtime/meters/histogram';
import type { Meters } from '@millrace/runtime/meters/meters';
import type { StorageLimits } from '@millrace/service/settings';
import type { StorageOfOrganisation } from '@millrace/service/system/metrics-store';
import type { ServiceSnapshot, SnapshotReading } from '@millrace/service/system/snapshot';
import { SERVICE_VERSION } from '../version.ts';
import type { MetricName } from './catalogue.ts';

/** One line of the page, without the name of its metric. */
export interface MetricSample {
  readonly labels: { readonly [label: string]: string | number };
  readonly value: number;
  /** With the suffix of a histogram's line. */
  readonly metricName: string;
}

/** Samples by metric; a metric without any isn't shown. */
export type Samples = Map<MetricName, MetricSample[]>;

/** The connections to the database. */
export interface PoolReading {
  pools(): PoolState[];
  waitingMs(): number;
}

/** What one process has counted, and what it has last read from the database. */
export function takeSamples(
  meters: Meters,
  pool: PoolReading,
  reading: SnapshotReading,
  limits: StorageLimits,
): Samples {
  const samples = new SampleList();
  samples.add('millrace_build_info', { version: SERVICE_VERSION, node_version: process.versions.node }, 1);
  addExecutions(samples, meters);
  addRequests(samples, meters);
  addWorker(samples, meters);
  addPools(samples, pool);
  samples.add('millrace_database_up', {}, reading.isDatabaseUp ? 1 : 0);
  if (reading.snapshot !== null) {
    samples.add('millrace_database_reading_age_seconds', {}, reading.ageSeconds);
    addSnapshot(samples, reading.snapshot);
    for (const row of reading.snapshot.storage) addStorageLimits(samples, row, limits);
  }
  return samples.byMetric;
}

type Labels = MetricSample['labels'];

class SampleList {
  readonly byMetric: Samples = new Map();

  add(name: MetricName, labels: Labels, value: number): void {
    this.#push(name, { labels, value, metricName: name });
  }

  addCounts(name: MetricName, label: string, counts: Iterable<readonly [string, number]>): void {
    for (const [value, count] of counts) this.add(name, { [label]: value }, count);
  }

  addHistogram(name: MetricName, labels: Labels, histogram: Histogram): void {
    const cumulative = histogram.cumulative();
    for (const [index, count] of cumulative.entries()) {
      const le = histogram.bounds[index] ?? '+Inf';
      this.#push(name, { labels: { ...labels, le }, value: count, metricName: `${name}_bucket` });
    }
    this.#push(name, { labels, value: histogram.sum, metricName: `${name}_sum` });
    this.#push(name, { labels, value: cumulative.at(-1) ?? 0, metricName: `${name}_count` });
  }

  #push(name: MetricName, sample: MetricSample): void {
    const known = this.byMetric.get(name);
    if (known === undefined) this.byMetric.set(name, [sample]);
    else known.push(sample);
  }
}

function addExecutions(samples: SampleList, meters: Meters): void {
  samples.addCounts('millrace_executions_accepted_total', 'trigger', meters.accepted.entries());
  samples.add('millrace_executions_completed_total', {}, meters.completed);
  samples.addCounts('millrace_executions_failed_total', 'code', meters.failed.entries());
  for (const [organisation, meter] of [
    ...meters.organisations.entries(),
    [OTHER, meters.organisations.rest] as const,
  ]) {
    const labels = { organisation };
    samples.add('millrace_organisation_executions_accepted_total', labels, meter.accepted);
    samples.add('millrace_organisation_executions_completed_total', labels, meter.completed);
    samples.add('millrace_organisation_executions_failed_total', labels, meter.failed);
    samples.add('millrace_organisation_ai_tokens_total', labels, meter.aiTokens);
  }
  for (const [workflow, histogram] of [
    ...meters.workflows.entries(),
    [OTHER, meters.workflows.rest] as const,
  ]) {
    samples.addHistogram('millrace_execution_duration_seconds', { workflow }, histogram);
  }
  for (const [type, { seconds, failed }] of meters.nodes) {
    samples.addHistogram('millrace_node_duration_seconds', { type }, seconds);
    samples.add('millrace_node_failures_total', { type }, failed);
  }
  samples.add('millrace_ai_tokens_total', {}, meters.aiTokens);
  samples.addCounts('millrace_schedule_fires_total', 'outcome', meters.fires.entries());
  samples.addCounts('millrace_polls_total', 'outcome', meters.polls.entries());
  samples.addHistogram('millrace_schedule_lateness_seconds', {}, meters.lateness);
}

function addRequests(samples: SampleList, meters: Meters): void {
  for (const [kind, histogram] of meters.requests) {
    samples.addHistogram('millrace_http_request_duration_seconds', { kind }, histogram);
  }
  samples.addCounts('millrace_http_requests_refused_total', 'reason', meters.refused.entries());
  samples.add('millrace_http_connections_refused_total', {}, meters.refusedConnections);
  if (meters.isShedding !== null) samples.add('millrace_shedding', {}, meters.isShedding() ? 1 : 0);
  const bodies = meters.bodies?.();
  if (bodies === undefined) return;
  samples.add('millrace_request_body_bytes', {}, bodies.used);
  samples.add('millrace_request_body_limit_bytes', {}, bodies.total);
}

function addWorker(samples: SampleList, meters: Meters): void {
  samples.add('millrace_worker_lease_losses_total', {}, meters.leaseLosses);
  samples.add('millrace_executions_taken_over_total', {}, meters.takeOvers);
  const hosts = meters.hosts?.();
  if (hosts !== undefined) {
    samples.add('millrace_outgoing_calls', {}, hosts.calls);
    samples.add('millrace_outgoing_calls_waiting', {}, hosts.waiting);
    samples.add('millrace_outgoing_calls_put_off_total', {}, hosts.putOff);
    samples.add('millrace_outgoing_pauses_total', {}, hosts.pauses);
  }
  const spans = meters.spans?.();
  if (spans !== undefined) {
    samples.add('millrace_trace_spans_exported_total', {}, spans.exported);
    samples.add('millrace_trace_spans_dropped_total', {}, spans.dropped);
  }
  const data = meters.data?.();
  if (data !== undefined) {
    samples.add('millrace_worker_data_bytes', {}, data.heldBytes);
    samples.add('millrace_worker_data_limit_bytes', {}, data.budgetBytes);
    samples.add('millrace_worker_responses_waiting', {}, data.waiting);
  }
  const slots = meters.slots?.();
  if (slots === undefined) return;
  samples.add('millrace_worker_slots', {}, slots.all);
  samples.add('millrace_worker_slots_in_use', {}, slots.taken);
}

function addPools(samples: SampleList, pool: PoolReading): void {
  for (const { pool: name, open, idle, most, waiting } of pool.pools()) {
    samples.add('millrace_database_pool_connections', { pool: name, state: 'busy' }, open - idle);
    samples.add('millrace_database_pool_connections', { pool: name, state: 'idle' }, idle);
    samples.add('millrace_database_pool_limit', { pool: name }, most);
    samples.add('millrace_database_pool_waiting', { pool: name }, waiting);
  }
  samples.add('millrace_database_pool_wait_seconds', {}, pool.waitingMs() / 1000);
}

/** Its own limits, or the service's; 0 is none. */
function addStorageLimits(samples: SampleList, row: StorageOfOrganisation, limits: StorageLimits): void {
  if (row.organisation_id === null) return;
  const parts = {
    executions: row.executions_limit ?? limits.executionsBytes,
    data: row.data_limit ?? limits.dataBytes,
    files: limits.filesBytes,
  };
  for (const [part, limit] of Object.entries(parts)) {
    const labels = { organisation: row.organisation_id, part };
    if (limit > 0) samples.add('millrace_organisation_storage_limit_bytes', labels, limit);
  }
}

function addSnapshot(samples: SampleList, { queue, queues, storage, facts }: ServiceSnapshot): void {
  samples.add('millrace_executions', { status: 'queued' }, queue.queued);
  samples.add('millrace_executions', { status: 'running' }, queue.running);
  samples.add('millrace_executions', { status: 'waiting' }, queue.waiting);
  samples.add('millrace_queue_oldest_seconds', {}, oldestSeconds(queue, queues, facts));
  for (const row of queues) {
    const labels = { organisation: row.organisation_id ?? OTHER };
    samples.add('millrace_organisation_queue_executions', labels, row.queued);
    if (row.oldest_seconds === null) continue;
    samples.add('millrace_organisation_queue_oldest_seconds', labels, row.oldest_seconds);
  }
  for (const row of storage) {
    const organisation = row.organisation_id ?? OTHER;
    const parts = { executions: row.executions_bytes, data: row.data_bytes, files: row.files_bytes };
    for (const [part, bytes] of Object.entries(parts)) {
      samples.add('millrace_organisation_storage_bytes', { organisation, part }, bytes);
    }
    samples.add('millrace_organisation_files', { organisation }, row.files);
  }
  samples.add('millrace_workers', {}, facts.live_workers);
  samples.add('millrace_schedules_late', {}, facts.late_schedules);
  samples.add('millrace_schedules_latest_seconds', {}, facts.lateness_seconds);
  samples.add('millrace_database_size_bytes', {}, facts.database_bytes);
  samples.add('millrace_database_schema_version', {}, facts.schema_version);
}

/** Also for an organisation whose queue is short. */
function oldestSeconds(
  { oldest_queued_at: oldestAt }: ServiceSnapshot['queue'],
  queues: ServiceSnapshot['queues'],
  { now }: ServiceSnapshot['facts'],
): number {
  const oldest = oldestAt === null ? 0 : (now.getTime() - oldestAt.getTime()) / 1000;
  return Math.max(0, oldest, ...queues.map(({ oldest_seconds: seconds }) => seconds ?? 0));
}
