import errorHints from '@millrace/ui/i18n/en/error-hints.json';
import { i18next } from '@millrace/ui/i18n/index.ts';
import { addJapanese } from '@millrace/ui/i18n/japanese.ts';
import { useTranslation } from 'react-i18next';

// Loaded with this page, to keep it out of the initial bundle.
i18next.addResourceBundle('en', 'errorHints', errorHints);
await addJapanese(async () => ({
  errorHints: (await import('@millrace/ui/i18n/ja/error-hints.json')).default,
}));

/** Advice for an error code. */
export function useErrorHint(code: string): string {
  const { i18n } = useTranslation();
  const known = Object.hasOwn(errorHints, code) ? code : 'own';
  return String(i18n.getResource(i18n.language, 'errorHints', known) ?? errorHints.own);
}
