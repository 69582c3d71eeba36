import { useLazyTable } from './lazy-table.ts';

const loadJapanese = async () => (await import('./ja/templates.json')).default;

/** Translates a text of the gallery; null without a translation. */
export function useGalleryText(): (text: string) => string | null {
  const texts = useLazyTable(loadJapanese);
  return (text) => (Object.hasOwn(texts, text) ? (texts[text] ?? null) : null);
}
