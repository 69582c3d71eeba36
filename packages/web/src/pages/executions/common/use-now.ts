import { createTicker } from '@millrace/ui/components/ticker.ts';
import { useSyncExternalStore } from 'react';

const seconds = createTicker(1_000);
const stay = () => () => {};

/** The time by the service's clock, anew every second while `isOn`. */
export function useNow(isOn: boolean): number {
  return useSyncExternalStore(isOn ? seconds.subscribe : stay, isOn ? seconds.now : () => 0);
}

/** Whether an execution with this status may still change. */
export function isUnderWay(status: string): boolean {
  return status === 'queued' || status === 'running' || status === 'waiting_async';
}
