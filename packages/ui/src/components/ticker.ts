import { serviceNow } from '../api/clock.ts';

/** The time by the service's clock as `useSyncExternalStore` takes it. */
export interface Ticker {
  readonly subscribe: (tell: () => void) => () => void;
  readonly now: () => number;
}

/** A clock for all that count on: a thousand of them are drawn together, not each by a timer of its own. */
export function createTicker(tickMs: number): Ticker {
  let now = serviceNow();
  let timer: ReturnType<typeof setInterval> | null = null;
  const listeners = new Set<() => void>();
  const tick = () => {
    now = serviceNow();
    for (const listener of listeners) listener();
  };
  return {
    subscribe(tell) {
      timer ??= setInterval(tick, tickMs);
      listeners.add(tell);
      return () => {
        listeners.delete(tell);
        if (listeners.size > 0 || timer === null) return;
        clearInterval(timer);
        timer = null;
      };
    },
    now() {
      // It stood still while nobody listened, or the service's clock was not known yet.
      if (Math.abs(serviceNow() - now) > tickMs) now = serviceNow();
      return now;
    },
  };
}
