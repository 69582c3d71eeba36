/** Anything that executes statements: the shared connections or one transaction. */
export interface Queryable {
  /**
   * Sends one statement. `name` makes it a prepared statement (hot paths only). Rows: `bigint` is a number, `timestamptz` a Date, `json`
   * unparsed text (use the engine's parseJson).
   * @throws DatabaseUnavailableError when the database can't be reached or is shutting down; the outcome of a write is then unknown
   */
  query<Row>(text: string, values?: readonly unknown[], name?: string): Promise<Row[]>;
}

/**
 * Channels of LISTEN and NOTIFY: work is waiting; executions changed (the payload: their ids, comma separated); schedules changed; a
 * workflow got a sample (the payload: its id).
 */
export type Channel = 'millrace_queue' | 'millrace_executions' | 'millrace_schedules' | 'millrace_samples';

/** The connections of one kind, and what waits for them. */
export interface PoolState {
  /** What its connections are for. */
  readonly pool: string;
  readonly open: number;
  readonly idle: number;
  readonly most: number;
  /** Statements or transactions that no connection has begun to work on. */
  readonly waiting: number;
}

/** The service's access to PostgreSQL. Statements outside a transaction are pipelined over few connections. */
export interface Database extends Queryable {
  /**
   * For statements that carry much data, or took too long among the others. Each has a connection to itself and more time, so that none of
   * the others is behind it; when all these connections are busy, it waits.
   */
  readonly large: Queryable;
  /**
   * Runs `work` in one transaction on a dedicated connection; any throw rolls back. Sees all organisations. `work` reruns from the start
   * when PostgreSQL asks for it (deadlock, serialisation failure).
   */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /** Like {@link transaction}, but row-level security exposes only this organisation's rows. */
  forOrganisation<T>(organisationId: number, work: (tx: Queryable) => Promise<T>): Promise<T>;
  /** Like {@link forOrganisation} for `work` that sends one statement, which only reads: all of it takes one round trip instead of three. */
  readForOrganisation<T>(organisationId: number, work: (tx: Queryable) => Promise<T>): Promise<T>;
  /**
   * Calls `listener` with the payload of every NOTIFY on `channel`, and `onReconnect` after a gap in which some may be lost. Resolves once
   * listening; rejects, without retrying later, when the database is unavailable.
   */
  listen(channel: Channel, listener: (payload: string) => void, onReconnect?: () => void): Promise<void>;
  close(): Promise<void>;
}
