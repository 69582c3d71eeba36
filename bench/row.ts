import type { PgDatabase } from '../packages/database/src/pool.ts';
import type { LoadProcess } from './load-client.ts';

export type Unit = '/s' | 'ms' | 'µs' | 's' | 'MiB' | '×';

/** Headings of the report, in order. */
export const SECTIONS = [
  'Throughput',
  'Processor time',
  'Latency',
  'Memory',
  'Start',
  'List of executions',
  'Growth',
  'First view',
  'Editor',
] as const;
export type Section = (typeof SECTIONS)[number];

/** One number that a row measures per round. `id` is stable: recorded results contain it. */
export interface Metric {
  readonly id: string;
  readonly section: Section;
  readonly label: string;
  readonly unit: Unit;
}

/** The numbers of one round, by metric id. */
export type Readings = Readonly<Record<string, number>>;

/** Measurements taken together. Every round measures every row once. */
export interface Row {
  /** The value for `--only`. */
  readonly id: string;
  readonly metrics: readonly Metric[];
  /** Takes so long that it is measured only if `--only` names it. */
  readonly isNamedOnly?: true;
  measure(bench: Bench): Promise<Readings>;
}

/** Duration and intensity of the measurement; the same for all rows. */
export interface Extent {
  /** Measured seconds of load per row and round. */
  readonly seconds: number;
  /** Unmeasured seconds of load before that, to warm up compilers and caches. */
  readonly warmupSeconds: number;
  /** Connections of the load generator, with one request in progress on each. */
  readonly connections: number;
  /** Rows of the table whose pages are read. */
  readonly pageRows: number;
  /** Executions of the row growth; recorded results may be older than it. */
  readonly historyRows?: number;
}

/** The tools rows measure with. */
export interface Bench {
  readonly effort: Extent;
  /** URL of the main database as its owner. */
  readonly databaseUrl: string;
  /** Where databases stay when the run ends; null: nowhere. */
  readonly keptFolder: string | null;
  readonly postgresPid: number;
  readonly db: PgDatabase;
  readonly load: LoadProcess;
  /** Creates an empty database for the service's own user, or returns the existing one. */
  createDatabase(name: string): Promise<string>;
  /** The folder of what `npm start` runs, built if necessary. */
  artefact(): Promise<string>;
  /** An empty folder accessible to every user; it is deleted at the end. */
  createFolder(name: string): Promise<string>;
  progress(text: string): void;
}
