/** Where the keys that encrypt stored secrets come from. */
export interface SecretKeySettings {
  /** Absolute folder of the embedded PostgreSQL. */
  readonly dataDir: string;
  /** Keys that encrypt stored credentials. Never logged or shown. */
  readonly secretKeys: {
    /** 32 bytes; null: stored in a file in the data folder. */
    readonly current: Buffer | null;
    /** Previous keys, which may still be needed to decrypt. */
    readonly previous: readonly Buffer[];
  };
}
