import { Notifications } from '@mantine/notifications';

/** The messages that are shown at the moment. */
export function ToastList() {
  return <Notifications position="bottom-right" limit={3} />;
}
