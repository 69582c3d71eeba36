/** Between two releases of what is held; rates that need more let several go at once. */
const MIN_RELEASE_PAUSE_MS = 10;
/** How many times as long the pause between two polls is while nothing runs or is due, up to a number of milliseconds. */
const QUIET_POLLS = 5;
const MAX_QUIET_POLL_MS = 5_000;

/** What the last claim saw. */
interface SeenWork {
  /** How long until something held may be released; null if nothing is. */
  readonly nextHeldMs: number | null;
  /** For how long nothing will be there to claim unless a notification says so. */
  readonly quietMs: number;
}

interface WorkerState {
  readonly pollMs: number;
  readonly freeSlots: number;
  /** This worker runs nothing. */
  readonly isIdle: boolean;
}

/** How long a worker waits after it has claimed what there was, in milliseconds, unless it is woken. */
export function claimPause(
  { nextHeldMs, quietMs }: SeenWork,
  { pollMs, freeSlots, isIdle }: WorkerState,
): {
  readonly ms: number;
  /** It is longer than usual: notifications tell of new work, and whatever else comes up is noticed afterwards. */
  readonly isQuiet: boolean;
} {
  if (isIdle && quietMs > pollMs) {
    const longestMs = Math.min(QUIET_POLLS * pollMs, Math.max(pollMs, MAX_QUIET_POLL_MS));
    return { ms: Math.min(quietMs, longestMs), isQuiet: true };
  }
  if (nextHeldMs === null || freeSlots <= 0) return { ms: pollMs, isQuiet: false };
  return { ms: Math.min(pollMs, Math.max(nextHeldMs, MIN_RELEASE_PAUSE_MS)), isQuiet: false };
}
