import type { AuditAction } from '@millrace/admin-api';
import auditTexts from '@millrace/ui/i18n/en/audit.json';
import { useTranslation } from 'react-i18next';

type Subject = keyof typeof auditTexts.group;

function isSubject(text: string): text is Subject {
  return Object.hasOwn(auditTexts.group, text);
}

function isKnown(action: string): action is AuditAction {
  const [subject = '', verb = ''] = action.split('.');
  return isSubject(subject) && Object.hasOwn(auditTexts.actions[subject], verb);
}

/** Labels of audit actions; unknown ones from earlier versions are shown as recorded. */
export function useActionText(): (action: string) => string {
  const { t } = useTranslation();
  return (action) => (isKnown(action) ? t(`audit.actions.${action}`) : action);
}

/** The actions grouped by subject, as options of a select. */
export function useActionGroups(
  actions: readonly string[],
): { group: string; items: { value: string; label: string }[] }[] {
  const { t } = useTranslation();
  const textOf = useActionText();
  const bySubject = Map.groupBy(actions, (action) => action.split('.')[0] ?? '');
  return [...bySubject].map(([subject, members]) => ({
    group: isSubject(subject) ? t(`audit.group.${subject}`) : subject,
    items: members.map((value) => ({ value, label: textOf(value) })),
  }));
}
