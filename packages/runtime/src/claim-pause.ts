/** Minimum pause between two releases of held starts; faster rates release several at once. */
const MIN_RELEASE_PAUSE_MS = 10;
/** Factor of the pause between two polls while nothing runs or is due, and its limit in milliseconds. */
const QUIET_POLLS = 5;
const MAX_QUIET_POLL_MS = 5_000;

/** What the last claim saw. */
interface SeenWork {
  /** How long until a held start may be released; null if there is none. */
  readonly nextHeldMs: number | null;
  /** How long there will be nothing to claim unless a notification says so. */
  readonly quietMs: number;
}

interface WorkerState {
  readonly pollMs: number;
  readonly freeSlots: number;
  /** This worker runs nothing. */
  readonly isIdle: boolean;
}

/** How long a worker waits after a claim that left nothing, in milliseconds, unless it is woken. */
export function claimPause(
  { nextHeldMs, quietMs }: SeenWork,
  { pollMs, freeSlots, isIdle }: WorkerState,
): {
  readonly ms: number;
  /** Longer than usual: new work sends notifications, and anything else is noticed afterwards. */
  readonly isQuiet: boolean;
} {
  if (isIdle && quietMs > pollMs) {
    const longestMs = Math.min(QUIET_POLLS * pollMs, Math.max(pollMs, MAX_QUIET_POLL_MS));
    return { ms: Math.min(quietMs, longestMs), isQuiet: true };
  }
  if (nextHeldMs === null || freeSlots <= 0) return { ms: pollMs, isQuiet: false };
  return { ms: Math.min(pollMs, Math.max(nextHeldMs, MIN_RELEASE_PAUSE_MS)), isQuiet: false };
}
