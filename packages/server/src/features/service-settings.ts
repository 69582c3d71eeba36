/** How long what has ended is kept. */
export interface RetentionSettings {
  readonly executionsDays: {
    readonly completed: number;
    readonly failed: number;
    readonly cancelled: number;
  };
  readonly auditDays: number;
  readonly idempotencyHours: number;
  /** As `sessions.idleMs`: what is over then is deleted. */
  readonly idleSessionMs: number;
}

/** How long somebody stays signed in. */
export interface SessionSettings {
  /** A session that was not used for so long is over. */
  readonly idleMs: number;
  /** A session is over then, however much it is used. */
  readonly lifetimeMs: number;
}

/** A provider that people may sign in with. */
export interface SingleSignOnSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Null: a public client. Never logged or shown. */
  readonly clientSecret: string | null;
  /** On the button. */
  readonly name: string;
  /** What people whom nobody invited become in the first organisation; null: they are refused. */
  readonly newMembers: 'viewer' | 'editor' | null;
}

/** Where the keys come from that stored secrets are encrypted with. */
export interface SecretKeySettings {
  /** Absolute folder of the embedded PostgreSQL. */
  readonly dataDir: string;
  /** What stored credentials are encrypted with. Never logged or shown. */
  readonly secretKeys: {
    /** 32 bytes; null: a file in the data folder holds it. */
    readonly current: Buffer | null;
    /** Former ones, which may still be needed to decrypt. */
    readonly previous: readonly Buffer[];
  };
}

/** How large a workflow may be. */
export interface FlowLimits {
  readonly nodes: number;
}
