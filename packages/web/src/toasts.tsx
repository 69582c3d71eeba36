import { useNotifications } from '@mantine/notifications';
import { loadInReserve } from '@millrace/ui/components/load-in-reserve.ts';
import { type ComponentType, useEffect, useState } from 'react';

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
    return loadInReserve(load);
  }, [List, isAsked]);
  return List === null ? null : <List />;
}
