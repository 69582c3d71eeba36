/** Smaller differences don't count: the service sends its time in whole seconds. */
const SAME_MS = 2_000;

let aheadMs = 0;

/** Learns from an answer how far the service's clock is ahead of the browser's. */
export function noteServiceTime({ headers }: Pick<Response, 'headers'>): void {
  const reportedMs = Date.parse(headers.get('date') ?? '');
  if (Number.isNaN(reportedMs)) return;
  const differenceMs = reportedMs + 500 - Date.now();
  if (Math.abs(differenceMs - aheadMs) < SAME_MS) return;
  aheadMs = Math.abs(differenceMs) < SAME_MS ? 0 : differenceMs;
}

/** The time by the service's clock, as all times it sends: the browser's clock may be wrong. */
export function serviceNow(): number {
  return Date.now() + aheadMs;
}
