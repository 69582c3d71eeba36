/** Anything statements can be sent to: the shared connections or one transaction. */
export interface Queryable {
  /**
   * Sends one statement. `name` makes it a prepared statement (hot paths only).
   * Rows: `bigint` is a number, `timestamptz` a Date, `json` its untouched text (parse it with the engine's parseJson).
   * @throws DatabaseUnavailableError when the database cannot be reached or is going down; the outcome of a write is then unknown
   */
  query<Row>(text: string, values?: readonly unknown[], name?: string): Promise<Row[]>;
}

/**
 * What LISTEN and NOTIFY are used for: work is waiting; executions changed (the payload: their ids, comma separated);
 * schedules changed; a workflow got a sample (the payload: its id).
 */
export type Channel = 'millrace_queue' | 'millrace_executions' | 'millrace_schedules' | 'millrace_samples';

/** The service's access to PostgreSQL. Statements outside a transaction are pipelined over few connections. */
export interface Database extends Queryable {
  /**
   * Runs `work` in one transaction on a connection of its own; any throw rolls back. Sees all organisations.
   * `work` runs again, from its beginning, when PostgreSQL asks for it (deadlock, serialisation failure).
   */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /** Like {@link transaction}, but row-level security lets only this organisation's rows through. */
  forOrganisation<T>(organisationId: number, work: (tx: Queryable) => Promise<T>): Promise<T>;
  /**
   * Calls `listener` with the payload of every NOTIFY on `channel`; `onReconnect` after a gap in which some may be lost.
   * Resolves when listening; fails, without listening later, when the database is away.
   */
  listen(channel: Channel, listener: (payload: string) => void, onReconnect?: () => void): Promise<void>;
  close(): Promise<void>;
}
