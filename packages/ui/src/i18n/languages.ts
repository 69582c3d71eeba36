/** The UI languages, each by its own name. */
export const LANGUAGES = { en: 'English', ja: '日本語' } as const;
export type Language = keyof typeof LANGUAGES;

export function isLanguage(text: unknown): text is Language {
  return typeof text === 'string' && Object.hasOwn(LANGUAGES, text);
}
