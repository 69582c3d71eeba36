import { notifications } from '@mantine/notifications';
import { ApiProblem } from '@millrace/ui/api/client.ts';
import { notifyFailure } from '@millrace/ui/components/notify.ts';
import type peopleTexts from '@millrace/ui/i18n/en/people.json';
import { i18next } from '@millrace/ui/i18n/index.ts';

type ProblemCode = keyof typeof peopleTexts.problem;

/** Why a request was rejected, translated for common reasons; null for all others. */
export function knownReason(error: Error | null): string | null {
  if (!(error instanceof ApiProblem)) return null;
  const field = error.errors[0]?.pointer.slice(1);
  const code = field === 'email' || field === 'name' ? `invalid_${field}` : error.code;
  return i18next.exists(`people.problem.${code}`) ? i18next.t(`people.problem.${code as ProblemCode}`) : null;
}

/** Reports why an action was rejected. */
export function notifyRefusal(error: Error): void {
  const message = knownReason(error);
  if (message === null) notifyFailure(error);
  else notifications.show({ message, color: 'red', autoClose: 10_000 });
}
