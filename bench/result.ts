import type { Machine } from './process-facts.ts';
import type { Extent, Metric, Readings } from './row.ts';
import { median } from './statistics.ts';

/** A metric with its measurements. */
export interface Measured extends Metric {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** One value per round, in order. */
  readonly rounds: readonly number[];
}

/** A target of the project, and whether it was met. */
export interface Target {
  readonly label: string;
  readonly value: number;
  readonly wanted: string;
  readonly met: boolean;
}

/** One run of the benchmark: the output of `--json` and the content of `bench/results/`. */
export interface BenchResult {
  /** When the run started, RFC 3339. */
  readonly date: string;
  /** The measured commit, followed by `+` if files differed from it. */
  readonly commit: string;
  readonly machine: Machine;
  readonly effort: Extent & { readonly rounds: number };
  /** Share of CPU time that the hypervisor gave to others during the run, 0 to 1. */
  readonly stolenShare: number;
  readonly metrics: readonly Measured[];
  readonly aims: readonly Target[];
}

/** Combines the rounds of each metric; metrics without measurements are omitted. */
export function summarise(metrics: readonly Metric[], rounds: readonly Readings[]): Measured[] {
  return metrics.flatMap((metric) => {
    const values = rounds.flatMap((round) => round[metric.id] ?? []);
    if (values.length === 0) return [];
    return [
      {
        id: metric.id,
        section: metric.section,
        label: metric.label,
        unit: metric.unit,
        median: rounded(median(values)),
        min: rounded(Math.min(...values)),
        max: rounded(Math.max(...values)),
        rounds: values.map(rounded),
      },
    ];
  });
}

/** Pages whose first heading has a target, by metric. */
const FIRST_VIEWS = [
  ['first-view.sign_in_heading', 'sign-in'],
  ['first-view.workflows_heading', 'list of workflows'],
  ['first-view.editor_heading', 'editor'],
  ['first-view.executions_heading', 'executions'],
  ['first-view.execution_heading', 'execution'],
  ['first-view.versions_heading', 'versions of a workflow'],
  ['first-view.templates_heading', 'gallery'],
  ['first-view.settings_heading', 'settings'],
] as const;

const MAX_HEADING_MS = 2_500;

/** Every kind of page, if they were measured. Their labels begin with the page. */
function allFirstViews(metrics: readonly Measured[]): readonly (readonly [string, string])[] {
  return metrics.flatMap(({ id, label }) =>
    id.startsWith('first-view-all.') ? [[id, label.replace(/:.*/, '')] as const] : [],
  );
}

/** What is done on the canvas, by metric. */
const CANVAS_ACTIONS = [
  ['pan_all', 'all in view, panning'],
  ['drag_all', 'all in view, dragging a node'],
  ['pan', 'zoomed in, panning'],
  ['drag', 'zoomed in, dragging a node'],
] as const;
/** A display shows 60 a second; two of a hundred may come late. */
const MIN_FRAMES = 58.8;

/** The targets whose metrics were measured. */
export function judge(metrics: readonly Measured[]): Target[] {
  return [
    linearAim(metrics, 2),
    linearAim(metrics, 4),
    ratioAim(metrics, 'Completed (3 nodes) / coalesced bare row', 'execute-3.completed', 'coalesced', 0.42),
    ratioAim(metrics, 'Completed (3 nodes) / bare row', 'execute-3.completed', 'bare', 0.2),
    ratioAim(metrics, 'Accepted (1 node) / coalesced bare row', 'execute-1.accepted', 'coalesced', 0.5),
    ratioAim(metrics, 'Batches / single starts', 'bulk-start.accepted', 'bulk-start.single', 4),
    ratioAim(metrics, 'Completed (1 call out) / coalesced bare row', 'call.completed', 'coalesced', 0.2),
    ratioAim(
      metrics,
      'Completed (3 nodes), api + worker / one process',
      'split-3.completed',
      'execute-3.completed',
      0.8,
    ),
    roundTripAim(metrics),
    mostTarget(metrics, 'Sent until seen completed, p99, idle service', 'latency.completed_p99', 30, 'ms'),
    mostTarget(metrics, 'Millrace without work', 'cold-start.idle-memory', 140, 'MiB'),
    mostTarget(metrics, 'Millrace after load (1 node)', 'execute-1.memory_loaded', 300, 'MiB'),
    mostTarget(metrics, 'Processor time of a minute without work', 'cold-start.idle-cpu', 180, 'ms'),
    ...CANVAS_ACTIONS.map(([id, action]) =>
      leastTarget(
        metrics,
        `Editor with 1,000 nodes, ${action}`,
        `canvas.1000_${id}_frames`,
        MIN_FRAMES,
        'frames a second',
      ),
    ),
    ...[...FIRST_VIEWS, ...allFirstViews(metrics)].map(([id, page]) =>
      mostTarget(metrics, `First heading at 1.6 Mbit/s and 150 ms, ${page}`, id, MAX_HEADING_MS, 'ms'),
    ),
  ].filter((aim) => aim !== null);
}

/** One metric's median as a share of another's; null if either was not measured. */
export function ratio(metrics: readonly Measured[], id: string, toId: string): number | null {
  const [value, base] = [id, toId].map((wanted) => metrics.find((metric) => metric.id === wanted)?.median);
  return value === undefined || base === undefined ? null : value / base;
}

function ratioAim(
  metrics: readonly Measured[],
  label: string,
  id: string,
  toId: string,
  least: number,
): Target | null {
  const value = ratio(metrics, id, toId);
  return value === null
    ? null
    : { label, value: rounded(value), wanted: `at least ${least}`, met: value >= least };
}

/** Several workers share one queue nearly as if each had its own. */
function linearAim(metrics: readonly Measured[], workers: number): Target | null {
  const value = ratio(metrics, `workers.${workers}`, 'workers.1');
  const label = `Completed by ${workers} workers, calls of 200 ms / ${workers} times one worker`;
  if (value === null) return null;
  return { label, value: rounded(value / workers), wanted: 'at least 0.9', met: value / workers >= 0.9 };
}

/** How many round trips of the coalesced bare row a start takes until it is seen to be completed. */
const MAX_ROUND_TRIPS = 1.5;

function roundTripAim(metrics: readonly Measured[]): Target | null {
  const value = ratio(metrics, 'latency.completed_p50', 'latency.coalesced_p50');
  if (value === null) return null;
  return {
    label: 'Sent until seen completed, p50 / coalesced bare row',
    value: rounded(value),
    wanted: `at most ${MAX_ROUND_TRIPS}`,
    met: value <= MAX_ROUND_TRIPS,
  };
}

function mostTarget(
  metrics: readonly Measured[],
  label: string,
  id: string,
  below: number,
  unit: Metric['unit'],
): Target | null {
  const value = metrics.find((metric) => metric.id === id)?.median;
  return value === undefined ? null : { label, value, wanted: `below ${below} ${unit}`, met: value < below };
}

function leastTarget(
  metrics: readonly Measured[],
  label: string,
  id: string,
  least: number,
  unit: string,
): Target | null {
  const value = metrics.find((metric) => metric.id === id)?.median;
  return value === undefined
    ? null
    : { label, value, wanted: `at least ${least} ${unit}`, met: value >= least };
}

/** Four significant digits: more would suggest a precision that no run has. */
function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
