import type { Template } from '@millrace/templates/template';
import { render } from '@millrace/templates/template-render';
import { type JsonObject, type JsonValue, textOrJson } from '@millrace/values/json';

/** `settings.rate`: how many starts with the same key are released in any period. */
export interface StartRate {
  readonly limit: number;
  readonly periodMs: number;
  /** Null: all starts of the workflow have the same key. */
  readonly key: Template | null;
}

/** `settings.debounce`: how long a start waits for a newer one with the same key. */
export interface StartDebounce {
  readonly waitMs: number;
  /** The longest a constant stream of starts can wait; null for no bound. */
  readonly maxWaitMs: number | null;
  readonly key: Template | null;
}

/** Parameters of the generic cell rate algorithm, in microseconds. */
export interface CellRate {
  readonly intervalUs: number;
  /** How much of a late release may be caught up. */
  readonly toleranceUs: number;
}

/** What is stored of one key: the earliest time of the next release, and how many starts wait for theirs. */
export interface RateState {
  readonly dueAtUs: number;
  readonly waiting: number;
}

/** What becomes of the starts of one key, in their order: so many at once, the next ones held, the others refused. */
export interface Admission {
  readonly direct: number;
  /** When each of the held ones is expected to be released. */
  readonly heldUntilUs: readonly number[];
  /** For each refused one: after how long it would be accepted. */
  readonly refusedForUs: readonly number[];
}

const MAX_TOLERANCE_US = 250_000;
const TOLERANCE_PER_PERIOD = 1 / 20;
const MAX_KEY_BYTES = 100_000;

/** The interval is so long that a period has at most `limit` releases, also if it begins with all that may be caught up. */
export function cellRateOf({ limit, periodMs }: Pick<StartRate, 'limit' | 'periodMs'>): CellRate {
  const periodUs = periodMs * 1_000;
  const toleranceUs = Math.floor(Math.min(periodUs * TOLERANCE_PER_PERIOD, MAX_TOLERANCE_US));
  return { intervalUs: Math.ceil((periodUs + toleranceUs) / limit), toleranceUs };
}

/** How many of a queue's starts may be released now. */
export function releasable({ dueAtUs, waiting }: RateState, rate: CellRate, nowUs: number): number {
  const from = Math.max(nowUs - rate.toleranceUs, dueAtUs);
  return from > nowUs ? 0 : Math.min(waiting, Math.floor((nowUs - from) / rate.intervalUs) + 1);
}

/** The time of the next release after so many now. */
export function dueAfter(dueAtUs: number, rate: CellRate, nowUs: number, released: number): number {
  return released === 0 ? dueAtUs : Math.max(nowUs - rate.toleranceUs, dueAtUs) + released * rate.intervalUs;
}

/** Admits new starts of a key. @param maxWaitUs none is held for longer than this; null for any time */
export function admit(
  state: RateState,
  rate: CellRate,
  nowUs: number,
  count: number,
  maxWaitUs: number | null,
): Admission {
  const direct = state.waiting > 0 ? 0 : releasable({ dueAtUs: state.dueAtUs, waiting: count }, rate, nowUs);
  const firstUs = Math.max(dueAfter(state.dueAtUs, rate, nowUs, direct), nowUs);
  const expected = Array.from(
    { length: count - direct },
    (_, place) => firstUs + (state.waiting + place) * rate.intervalUs,
  );
  const longest = maxWaitUs ?? Number.POSITIVE_INFINITY;
  return {
    direct,
    heldUntilUs: expected.filter((time) => time - nowUs <= longest),
    refusedForUs: expected.map((time) => time - nowUs - longest).filter((excess) => excess > 0),
  };
}

/** Until when a start waits for a newer one. @param firstUs when the first of the stream was stored */
export function debouncedUntil(
  { waitMs, maxWaitMs }: Pick<StartDebounce, 'waitMs' | 'maxWaitMs'>,
  firstUs: number,
  nowUs: number,
): number {
  const latestUs = maxWaitMs === null ? Number.POSITIVE_INFINITY : firstUs + maxWaitMs * 1_000;
  return Math.min(nowUs + waitMs * 1_000, latestUs);
}

/**
 * The text by which starts belong together. A template that can't be rendered within the bounds of a key gives the same as
 * none.
 */
export function startKeyOf(
  key: Template | null,
  plan: { readonly vars: JsonObject; readonly timezone: string | null },
  of: {
    readonly executionId: number;
    readonly triggerData: JsonValue;
    readonly request?: JsonValue | undefined;
    readonly nowMs?: number;
  },
): string {
  if (key === null) return '';
  const { vars, timezone } = plan;
  try {
    const value = render(key, { ...of, vars, timezone, nodeOutput: () => null }, MAX_KEY_BYTES);
    return textOrJson(value);
  } catch {
    return '';
  }
}
