import type { PgDatabase } from '../packages/database/src/pool.ts';
import type { LoadProcess } from './load-client.ts';

export type Unit = '/s' | 'ms' | 'µs' | 's' | 'MiB';

/** Headings of the report, in its order. */
export const SECTIONS = [
  'Throughput',
  'Processor time',
  'Latency',
  'Memory',
  'Start',
  'List of executions',
  'Editor',
] as const;
export type Section = (typeof SECTIONS)[number];

/** One number a row gives per round. `id` is stable: it stands in recorded results. */
export interface Metric {
  readonly id: string;
  readonly section: Section;
  readonly label: string;
  readonly unit: Unit;
}

/** The numbers of one round, by metric id. */
export type Readings = Readonly<Record<string, number>>;

/** What is measured together. Every round measures every row once. */
export interface Row {
  /** What `--only` takes. */
  readonly id: string;
  readonly metrics: readonly Metric[];
  measure(bench: Bench): Promise<Readings>;
}

/** How long and how hard is measured; the same for all rows. */
export interface Effort {
  /** Seconds of load per row and round that count. */
  readonly seconds: number;
  /** Seconds of load before, which do not count: compilers and caches get warm. */
  readonly warmupSeconds: number;
  /** Connections of the load generator, one request under way on each. */
  readonly connections: number;
  /** Rows of the table whose pages are read. */
  readonly pageRows: number;
}

/** What rows measure with. */
export interface Bench {
  readonly effort: Effort;
  /** Opens the main database as its owner. */
  readonly databaseUrl: string;
  readonly postgresPid: number;
  readonly db: PgDatabase;
  readonly load: LoadProcess;
  /** Makes an empty database of the service's own user, or answers the one made before. */
  createDatabase(name: string): Promise<string>;
  /** An empty folder that every user can get to; it is deleted at the end. */
  createFolder(name: string): Promise<string>;
  progress(text: string): void;
}
