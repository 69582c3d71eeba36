/** A bucket of an S3-compatible service, and who may use it. */
export interface S3Settings {
  /** Without a path: `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** What the keys of all objects begin with: empty, or ending with a slash. */
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Where files are kept, and how much. */
export interface FileSettings {
  /** Shared by all processes; unused with a bucket. */
  readonly folder: string;
  /** Null: files are in the folder. */
  readonly s3: S3Settings | null;
  /** Of one file. */
  readonly maxBytes: number;
  /** Of one organisation. 0: no limit. */
  readonly organisationBytes: number;
  /** What stays free on the disk of the folder. 0: it may be filled. */
  readonly freeDiskBytes: number;
  /** How long an upload that no execution uses is kept. */
  readonly unusedMs: number;
}
