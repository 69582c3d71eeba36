import { useSyncExternalStore } from 'react';
import { serviceNow } from '../api/clock.ts';

/** One shared timer, so that a thousand rows re-render together. */
function createTicker(tickMs: number) {
  let now = serviceNow();
  let timer: ReturnType<typeof setInterval> | null = null;
  const listeners = new Set<() => void>();
  const tick = () => {
    now = serviceNow();
    for (const listener of listeners) listener();
  };
  return {
    subscribe: (listener: () => void) => {
      timer ??= setInterval(tick, tickMs);
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0 || timer === null) return;
        clearInterval(timer);
        timer = null;
      };
    },
    now: () => {
      // It was stopped without listeners, or the service's clock wasn't known yet.
      if (Math.abs(serviceNow() - now) > tickMs) now = serviceNow();
      return now;
    },
  };
}

const tickers = { second: createTicker(1_000), minute: createTicker(60_000) };
const never = () => () => {};

/** The current time by the service's clock, updated every second or minute; 0 while `isOn` is false. */
export function useNow(isOn = true, every: 'second' | 'minute' = 'second'): number {
  const { subscribe, now } = tickers[every];
  return useSyncExternalStore(isOn ? subscribe : never, isOn ? now : () => 0);
}
