import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { accountEn } from './account.en.ts';
import { accountJa } from './account.ja.ts';
import { auditEn } from './audit.en.ts';
import { auditJa } from './audit.ja.ts';
import { commonEn } from './common.en.ts';
import { commonJa } from './common.ja.ts';
import { credentialsEn } from './credentials.en.ts';
import { credentialsJa } from './credentials.ja.ts';
import { editorEn } from './editor.en.ts';
import { editorJa } from './editor.ja.ts';
import { executionsEn } from './executions.en.ts';
import { executionsJa } from './executions.ja.ts';
import { formsEn } from './forms.en.ts';
import { formsJa } from './forms.ja.ts';
import { keysEn } from './keys.en.ts';
import { keysJa } from './keys.ja.ts';
import { peopleEn } from './people.en.ts';
import { peopleJa } from './people.ja.ts';
import { settingsEn } from './settings.en.ts';
import { settingsJa } from './settings.ja.ts';
import { shellEn } from './shell.en.ts';
import { shellJa } from './shell.ja.ts';
import { systemEn } from './system.en.ts';
import { systemJa } from './system.ja.ts';
import { workflowsEn } from './workflows.en.ts';
import { workflowsJa } from './workflows.ja.ts';

/** Parts of the texts; `t('shell.workflows')`. */
const en = {
  account: accountEn,
  audit: auditEn,
  common: commonEn,
  credentials: credentialsEn,
  editor: editorEn,
  executions: executionsEn,
  forms: formsEn,
  keys: keysEn,
  people: peopleEn,
  settings: settingsEn,
  shell: shellEn,
  system: systemEn,
  workflows: workflowsEn,
} as const;
const ja = {
  account: accountJa,
  audit: auditJa,
  common: commonJa,
  credentials: credentialsJa,
  editor: editorJa,
  executions: executionsJa,
  forms: formsJa,
  keys: keysJa,
  people: peopleJa,
  settings: settingsJa,
  shell: shellJa,
  system: systemJa,
  workflows: workflowsJa,
} as const;

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: typeof en };
  }
}

export const LANGUAGES = { en: 'English', ja: '日本語' } as const;
export type Language = keyof typeof LANGUAGES;

const STORED_UNDER = 'millrace.language';

/** The language that was chosen here, else the first one of the browser that there is. */
function findLanguage(): Language {
  const wanted = [localStorage.getItem(STORED_UNDER), ...navigator.languages];
  const found = wanted.map((tag) => tag?.slice(0, 2)).find((tag) => tag !== undefined && tag in LANGUAGES);
  return (found as Language | undefined) ?? 'en';
}

/** Changes the language of the page and remembers it. */
export async function chooseLanguage(language: Language): Promise<void> {
  localStorage.setItem(STORED_UNDER, language);
  document.documentElement.lang = language;
  await i18next.changeLanguage(language);
}

const language = findLanguage();
document.documentElement.lang = language;
void i18next.use(initReactI18next).init({
  lng: language,
  fallbackLng: 'en',
  resources: { en: { translation: en }, ja: { translation: ja } },
  // React escapes what it shows.
  interpolation: { escapeValue: false },
});

export { i18next };
