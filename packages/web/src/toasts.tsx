import { useNotifications } from '@mantine/notifications';
import { loadInReserve } from '@millrace/ui/components/load-in-reserve.ts';
import { type ComponentType, useEffect, useState } from 'react';

/** Milliseconds without anything new, after which the page is taken to be complete. */
const QUIET_MS = 500;

/**
 * Shows messages. What shows them is as large as a small page, so it is loaded once the page is complete, to be there when the connection is lost; with
 * the first message if that comes earlier.
 */
export function Toasts() {
  const [List, setList] = useState<ComponentType | null>(null);
  const isAsked = useNotifications().notifications.length > 0;
  useEffect(() => {
    if (List !== null) return;
    // Without a connection, messages can't be shown either.
    const load = () =>
      import('./toast-list.tsx').then(
        ({ ToastList }) => setList(() => ToastList),
        () => undefined,
      );
    if (isAsked) {
      void load();
      return;
    }
    let callOff = () => {};
    const timer = setInterval(() => {
      if (!isQuiet()) return;
      clearInterval(timer);
      callOff = loadInReserve(load);
    }, QUIET_MS);
    return () => {
      clearInterval(timer);
      callOff();
    };
  }, [List, isAsked]);
  return List === null ? null : <List />;
}

function isQuiet(): boolean {
  const last = performance.getEntriesByType('resource').at(-1) as PerformanceResourceTiming | undefined;
  return document.readyState === 'complete' && performance.now() - (last?.responseEnd ?? 0) > QUIET_MS;
}
