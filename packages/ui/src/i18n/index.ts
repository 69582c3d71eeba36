import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import type { en } from './en.ts';
import { firstTexts } from './en-first.ts';
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

/** Texts by namespace. */
type Texts = { readonly [namespace: string]: object };

/** Loads the Japanese texts of every part that has been loaded, until they are needed. */
const loaders = new Set<() => Promise<Texts>>([
  async () => ({ translation: (await import('./ja-first.ts')).texts }),
  async () => (await import('@millrace/messages/ja')).ja,
]);

/** Adds Japanese texts: at once for Japanese readers, else when that language is chosen. Without them the page is English. */
export async function addJapanese(load: () => Promise<Texts>): Promise<void> {
  loaders.add(load);
  if (wanted === 'ja') await loadJapanese(load).catch(() => undefined);
}

/** Those that failed are tried again when the language is chosen again. */
async function loadJapanese(load: () => Promise<Texts>): Promise<void> {
  for (const [namespace, texts] of Object.entries(await load())) {
    i18next.addResourceBundle('ja', namespace, texts, true);
  }
  loaders.delete(load);
}

/** Loads missing texts before switching. */
async function showLanguage(language: Language): Promise<void> {
  wanted = language;
  chooseServiceTexts(language);
  if (language === 'ja') await Promise.all([...loaders].map(loadJapanese));
  document.documentElement.lang = language;
  await i18next.changeLanguage(language);
}

let wanted = findLanguage();
document.documentElement.lang = wanted;
void i18next.use(initReactI18next).init({
  lng: 'en',
  fallbackLng: 'en',
  resources: { en: { translation: firstTexts } },
  // React escapes values.
  interpolation: { escapeValue: false },
});

/** Resolves when the page can be rendered in the reader's language. If its texts fail to load, the page is English. */
export const languageReady: Promise<void> =
  wanted === 'en' ? Promise.resolve() : showLanguage(wanted).catch(() => undefined);

export { i18next };
