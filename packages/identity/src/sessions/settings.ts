/** How long somebody stays signed in. */
export interface SessionSettings {
  /** A session that was not used for so long is over. */
  readonly idleMs: number;
  /** A session is over then, however much it is used. */
  readonly lifetimeMs: number;
}
