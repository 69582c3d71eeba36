import type { en } from '../en.ts';
import { i18next } from '../index.ts';

/** Adds the English texts of a part of the page; they are loaded with the first page that shows them. */
export function addTexts(texts: Partial<typeof en>): void {
  i18next.addResourceBundle('en', 'translation', texts, true);
}
