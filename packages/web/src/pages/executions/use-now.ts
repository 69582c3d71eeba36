import { useSyncExternalStore } from 'react';
import { serviceNow } from '../../api/clock.ts';

const TICK_MS = 1_000;

/** One clock for all that count on: a thousand of them are drawn together, not each by a timer of its own. */
let now = serviceNow();
let timer: ReturnType<typeof setInterval> | null = null;
const listeners = new Set<() => void>();

function subscribe(tell: () => void): () => void {
  if (timer === null) {
    now = serviceNow();
    timer = setInterval(() => {
      now = serviceNow();
      for (const listener of listeners) listener();
    }, TICK_MS);
  }
  listeners.add(tell);
  return () => {
    listeners.delete(tell);
    if (listeners.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };
}

const stay = () => () => {};

/** The time by the service's clock, anew every second while `isOn`. */
export function useNow(isOn: boolean): number {
  return useSyncExternalStore(isOn ? subscribe : stay, isOn ? () => now : () => 0);
}

/** Whether an execution with this status may still change. */
export function isUnderWay(status: string): boolean {
  return status === 'queued' || status === 'running' || status === 'waiting_async';
}
