import type { en } from '../en.ts';
import { i18next } from '../index.ts';
import { addJapanese } from '../japanese.ts';

type Texts = Partial<typeof en>;

/**
 * Adds the texts of a part of the page; they are loaded with the first page that shows them, in Japanese for Japanese readers only.
 * Modules that import a part wait for it, so that nothing is shown in English first.
 *
 * @param loadJapanese may bring those of other parts: parts that are shown together share a file
 */
export async function addTexts(
  texts: Texts,
  loadJapanese: () => Promise<{ readonly texts: object }>,
): Promise<void> {
  i18next.addResourceBundle('en', 'translation', texts, true);
  await addJapanese(async () => ({ translation: (await loadJapanese()).texts }));
}
