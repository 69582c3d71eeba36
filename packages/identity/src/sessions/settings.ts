/** How long users stay signed in. */
export interface SessionSettings {
  /** A session unused for this long expires. */
  readonly idleMs: number;
  /** A session expires after this, however much it is used. */
  readonly lifetimeMs: number;
}
