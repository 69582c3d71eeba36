/** How long ended records are kept. */
export interface RetentionSettings {
  readonly executionsDays: {
    readonly completed: number;
    readonly failed: number;
    readonly cancelled: number;
  };
  readonly auditDays: number;
  /** Counts of the workflows' runs. */
  readonly statisticsDays: number;
  readonly idempotencyHours: number;
  /** As `sessions.idleMs`: sessions idle for longer are deleted. */
  readonly idleSessionMs: number;
}

/** The chain of hashes of each organisation's audit log. */
export interface AuditSettings {
  /** How often each log is compared with its chain. 0: never. */
  readonly verifyMs: number;
}

/** How much may wait in the queue. 0: no limit. */
export interface AdmissionSettings {
  readonly queuedPerOrganisation: number;
  readonly queuedInService: number;
}

/** How starts may queue up. */
export interface StartLimits {
  /** A start is refused if its workflow's rate would hold it for longer. */
  readonly maxRateWaitMs: number;
}

/** How much one organisation may store, in bytes. 0: no limit. */
export interface StorageSettings {
  /** Inputs and node records of its executions. */
  readonly executionsBytes: number;
  /** Entries of `data.store`. */
  readonly dataBytes: number;
}

/** All limits on what one organisation stores. */
export interface StorageLimits extends StorageSettings {
  /** Content of files, from the file settings. */
  readonly filesBytes: number;
}

/** How large a workflow may be. */
export interface FlowLimits {
  readonly nodes: number;
}

/** Limits on sorting workflows. */
export interface FolderLimits {
  /** Folders of an organisation. */
  readonly folders: number;
  /** Favourites of one person in an organisation. */
  readonly favourites: number;
}
