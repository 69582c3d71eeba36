import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { en } from './en.ts';
import { isLanguage, type Language } from './languages.ts';
import { loadServiceTexts } from './service/index.ts';

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: typeof en };
  }
}

export { LANGUAGES, type Language } from './languages.ts';

const STORED_UNDER = 'millrace.language';

/** The language that was chosen in this browser, else the first one of the browser's own that there is. */
function findLanguage(): Language {
  const wanted = [localStorage.getItem(STORED_UNDER), ...navigator.languages];
  return wanted.map((tag) => tag?.slice(0, 2)).find(isLanguage) ?? 'en';
}

/** Changes the language of the page and remembers it in this browser. */
export async function chooseLanguage(language: Language): Promise<void> {
  localStorage.setItem(STORED_UNDER, language);
  await showLanguage(language);
}

/** Loads the texts that are not here yet, then changes all of them; those of the service may come a little later. */
async function showLanguage(language: Language): Promise<void> {
  void loadServiceTexts(language).catch(() => undefined);
  if (language === 'ja' && !i18next.hasResourceBundle('ja', 'translation')) {
    const [{ ja, errorHints }, messages] = await Promise.all([
      import('./ja.ts'),
      import('@millrace/messages/ja'),
    ]);
    for (const [part, texts] of Object.entries(messages.ja)) i18next.addResourceBundle('ja', part, texts);
    i18next.addResourceBundle('ja', 'translation', ja);
    i18next.addResourceBundle('ja', 'errorHints', errorHints);
  }
  document.documentElement.lang = language;
  await i18next.changeLanguage(language);
}

const language = findLanguage();
document.documentElement.lang = language;
void i18next.use(initReactI18next).init({
  lng: 'en',
  fallbackLng: 'en',
  resources: { en: { translation: en } },
  // React escapes what it shows.
  interpolation: { escapeValue: false },
});

/** Kept when the page can be drawn in the reader's language. Without its texts it is English, which is better than no page. */
export const languageReady: Promise<void> =
  language === 'en' ? Promise.resolve() : showLanguage(language).catch(() => undefined);

export { i18next };
