/** Smaller differences are ignored: the service sends its time in whole seconds. */
const SAME_MS = 2_000;

let aheadMs = 0;

/** Derives the offset between the service's clock and the browser's from a response. */
export function noteServiceTime({ headers }: Pick<Response, 'headers'>): void {
  const reportedMs = Date.parse(headers.get('date') ?? '');
  if (Number.isNaN(reportedMs)) return;
  const differenceMs = reportedMs + 500 - Date.now();
  if (Math.abs(differenceMs - aheadMs) < SAME_MS) return;
  aheadMs = Math.abs(differenceMs) < SAME_MS ? 0 : differenceMs;
}

/** The current time by the service's clock, like every time it sends: the browser's clock may be wrong. */
export function serviceNow(): number {
  return Date.now() + aheadMs;
}
