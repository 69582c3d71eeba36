import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Table } from './texts.ts';

/** Loaded with the first form that shows one: they are as large as those of a whole page. */
const loadJapanese = async (): Promise<Table> => (await import('./ja/credential-guides.json')).default;

const NONE: Table = {};

/** Translates where a credential's values are found; null while the translations load. Without one, the text is English. */
export function useGuideText(): ((text: string) => string) | null {
  const { language } = useTranslation().i18n;
  const [japanese, setJapanese] = useState<Table | null>(null);
  useEffect(() => {
    if (language !== 'ja') return;
    let isOver = false;
    const take = (texts: Table) => {
      if (!isOver) setJapanese(texts);
    };
    loadJapanese().then(take, () => take(NONE));
    return () => {
      isOver = true;
    };
  }, [language]);
  const texts = language === 'ja' ? japanese : NONE;
  return texts === null ? null : (text) => (Object.hasOwn(texts, text) ? (texts[text] ?? text) : text);
}
