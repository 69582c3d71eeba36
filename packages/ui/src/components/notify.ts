import { notifications } from '@mantine/notifications';
import { ApiProblem } from '../api/client.ts';
import { i18next } from '../i18n/index.ts';

/** Says that something was done. */
export function notifyDone(message: string): void {
  notifications.show({ message, color: 'teal', autoClose: 4_000 });
}

/** Says why something was not done, in the words of the service. */
export function notifyFailure(error: Error): void {
  const isProblem = error instanceof ApiProblem;
  const details = isProblem ? error.errors.map(({ field, message }) => `${field}: ${message}`) : [];
  const message = isProblem ? [error.message, ...details].join('\n') : i18next.t('common.errorUnreachable');
  notifications.show({
    message,
    color: 'red',
    autoClose: 10_000,
    styles: { description: { whiteSpace: 'pre-line' } },
  });
}

/** Says why something cannot be done that way, or what else came of it. */
export function notifyWarning(message: string): void {
  notifications.show({ message, color: 'yellow', autoClose: 6_000 });
}
