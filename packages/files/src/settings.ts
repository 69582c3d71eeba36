/** Where files are kept, and how much. */
export interface FileSettings {
  /** Shared by all processes. */
  readonly folder: string;
  /** Of one file. */
  readonly maxBytes: number;
  /** Of one organisation. 0: no limit. */
  readonly organisationBytes: number;
  /** What stays free on the disk of the folder. 0: it may be filled. */
  readonly freeDiskBytes: number;
  /** How long an upload that no execution uses is kept. */
  readonly unusedMs: number;
}
