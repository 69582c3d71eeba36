import { type NotificationData, notifications } from '@mantine/notifications';
import { ApiProblem } from '../api/client.ts';
import { i18next } from '../i18n/index.ts';

/** Reports success. */
export function notifyDone(message: string): void {
  show({ message, color: 'teal', autoClose: 4_000 });
}

/** Reports a failure with the service's message; of invalid values, what is wrong with each. */
export function notifyFailure(error: Error): void {
  const isProblem = error instanceof ApiProblem;
  const details = isProblem ? error.errors.map(({ field, message }) => `${field}: ${message}`) : [];
  const problem = details.length > 0 ? details.join('\n') : error.message;
  const message = isProblem ? problem : i18next.t('common.errorUnreachable');
  show({
    message,
    color: 'red',
    autoClose: 10_000,
    styles: { description: { whiteSpace: 'pre-line' } },
  });
}

/** Reports why an action isn't possible, or a side effect of it. */
export function notifyWarning(message: string): void {
  show({ message, color: 'yellow', autoClose: 6_000 });
}

/** Shows a notification where it covers nothing in use. What finds the place is loaded with the first one. */
function show(notification: NotificationData): void {
  import('./toast-place.ts')
    .then(
      ({ placeForToast }) => placeForToast(),
      // Shown anyway, even if the service can't be reached.
      () => 'bottom-right' as const,
    )
    .then((position) => notifications.show({ ...notification, position }))
    .catch(reportError);
}
