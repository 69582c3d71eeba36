import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import type { en } from './en.ts';
import { firstTexts } from './en-first.ts';
import { addJapanese, wantJapanese } from './japanese.ts';
import { isLanguage, type Language } from './languages.ts';
import { chooseServiceTexts } from './service/index.ts';

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: typeof en };
  }
}

export { LANGUAGES, type Language } from './languages.ts';

const STORED_UNDER = 'millrace.language';

/** The language chosen in this browser, else the first supported one of the browser's preferences. */
function findLanguage(): Language {
  const wanted = [localStorage.getItem(STORED_UNDER), ...navigator.languages];
  return wanted.map((tag) => tag?.slice(0, 2)).find(isLanguage) ?? 'en';
}

/** Changes the UI language and stores it in this browser. */
export async function chooseLanguage(language: Language): Promise<void> {
  localStorage.setItem(STORED_UNDER, language);
  await showLanguage(language);
}

/** Loads missing texts before switching. */
async function showLanguage(language: Language): Promise<void> {
  chooseServiceTexts(language);
  await wantJapanese(language === 'ja');
  document.documentElement.lang = language;
  await i18next.changeLanguage(language);
}

const wanted = findLanguage();
document.documentElement.lang = wanted;
void i18next.use(initReactI18next).init({
  lng: 'en',
  fallbackLng: 'en',
  resources: { en: { translation: firstTexts } },
  // React escapes values.
  interpolation: { escapeValue: false },
});

void addJapanese(async () => ({ translation: (await import('./ja-first.ts')).texts }));

/** Resolves when the page can be rendered in the reader's language. If its texts fail to load, the page is English. */
export const languageReady: Promise<void> =
  wanted === 'en' ? Promise.resolve() : showLanguage(wanted).catch(() => undefined);

export { i18next };
