/** The embedded PostgreSQL couldn't be installed, started or reached; the message says why and how to fix it. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

/** Another Millrace is running on the same data folder. */
export class DataFolderInUseError extends EmbeddedPostgresError {
  /** Process id of the other one; null when it doesn't respond. */
  readonly pid: number | null;

  constructor(dataDir: string, pid: number | null) {
    super(
      `Another Millrace${pid === null ? '' : ` (process ${pid})`} is already running on the data folder ${dataDir}. ` +
        `Stop it first${pid === null ? '' : ` (kill ${pid})`}, or give this one a folder of its own: MILLRACE_DATA_DIR=/another/folder`,
    );
    this.pid = pid;
  }
}

/** Describes a failed file operation of the installation. */
export function fileProblem(what: string, path: string, error: unknown): EmbeddedPostgresError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reasons: Record<string, string> = {
    ENOSPC: 'the disk is full. Make room and start again',
    EDQUOT: "this user's disk quota is used up. Make room and start again",
    EACCES: 'permission denied. Use a folder this user may write to: MILLRACE_DATA_DIR=/another/folder',
    EPERM: 'permission denied. Use a folder this user may write to: MILLRACE_DATA_DIR=/another/folder',
    EROFS: 'the file system is read-only. Use another folder: MILLRACE_DATA_DIR=/another/folder',
    EEXIST: 'there is a file of this name, not a folder. Use another: MILLRACE_DATA_DIR=/another/folder',
    ENOTDIR: 'a part of the path is a file. Use another folder: MILLRACE_DATA_DIR=/another/folder',
  };
  const reason = reasons[code] ?? (error instanceof Error ? error.message : String(error));
  return new EmbeddedPostgresError(`${what} ${path}: ${reason}`, { cause: error });
}
