import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Table } from './texts.ts';

/** Loaded with the first form that shows one: they are as large as those of a whole page. */
const loadJapanese = async (): Promise<Table> => (await import('./ja/credential-guides.json')).default;

/** Translates where a credential's values are found; without a translation, and until it has loaded, the text is English. */
export function useGuideText(): (text: string) => string {
  const { language } = useTranslation().i18n;
  const [texts, setTexts] = useState<Table>({});
  useEffect(() => {
    let isOver = false;
    const take = (loaded: Table) => {
      if (!isOver) setTexts(loaded);
    };
    if (language === 'ja') loadJapanese().then(take, () => undefined);
    else take({});
    return () => {
      isOver = true;
    };
  }, [language]);
  return (text) => (Object.hasOwn(texts, text) ? (texts[text] ?? text) : text);
}
