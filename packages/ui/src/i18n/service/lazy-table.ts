import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Table } from './texts.ts';

/**
 * Translations that few pages show, loaded with the first of them; empty in English, and until they have loaded.
 *
 * @param loadJapanese a stable function
 */
export function useLazyTable(loadJapanese: () => Promise<Table>): Table {
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
  }, [language, loadJapanese]);
  return texts;
}
