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
