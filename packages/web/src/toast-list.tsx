import { Notifications } from '@mantine/notifications';
import { watchToasts } from '@millrace/ui/components/toast-place.ts';
import { useEffect } from 'react';

/** The messages that are shown at the moment. */
export function ToastList() {
  useEffect(watchToasts, []);
  return <Notifications position="bottom-right" limit={3} />;
}
