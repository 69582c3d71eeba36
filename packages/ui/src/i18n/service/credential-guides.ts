import { useLazyTable } from './lazy-table.ts';

const loadJapanese = async () => (await import('./ja/credential-guides.json')).default;

/** Translates where a credential's values are found; without a translation the text is English. */
export function useGuideText(): (text: string) => string {
  const texts = useLazyTable(loadJapanese);
  return (text) => (Object.hasOwn(texts, text) ? (texts[text] ?? text) : text);
}
