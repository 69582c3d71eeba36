import { en } from './en.ts';
import { ja } from './ja.ts';

const TEXTS: readonly (readonly [key: string, text: string])[] = [en, ja].flatMap((language) =>
  Object.entries(language).flatMap(([part, texts]) =>
    Object.entries<string>(texts).map(
      ([name, text]) => [`${part}.${name.replace(/_(one|other)$/, '')}`, text] as const,
    ),
  ),
);

/** Keys of the sentences that contain a word in one of the languages, in any case, whatever they are about. */
export function keysOfTextsWith(word: string): string[] {
  const wanted = word.toLowerCase();
  const found = TEXTS.filter(([, text]) =>
    text
      .replaceAll(/\{\{[^}]*\}\}/g, ' ')
      .toLowerCase()
      .includes(wanted),
  );
  return [...new Set(found.map(([key]) => key))];
}
