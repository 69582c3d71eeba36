import { useEffect, useState } from 'react';

/** The time, anew every second while `isOn`. */
export function useNow(isOn: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isOn) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isOn]);
  return now;
}

/** Whether an execution with this status may still change. */
export function isUnderWay(status: string): boolean {
  return status === 'queued' || status === 'running' || status === 'waiting_async';
}
