import errorHints from '@millrace/ui/i18n/en/error-hints.json';
import { i18next } from '@millrace/ui/i18n/index.ts';
import { useTranslation } from 'react-i18next';

// With this page only: the first load of the others does without.
i18next.addResourceBundle('en', 'errorHints', errorHints);

/** What to do about an error with this code. */
export function useErrorHint(code: string): string {
  const { i18n } = useTranslation();
  const known = Object.hasOwn(errorHints, code) ? code : 'own';
  return String(i18n.getResource(i18n.language, 'errorHints', known) ?? errorHints.own);
}
