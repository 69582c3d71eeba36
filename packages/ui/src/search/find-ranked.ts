/** What a thing is found by. */
interface Searched {
  readonly title: string;
  /** Other words for it. */
  readonly synonyms?: readonly string[];
  /** An internal name, of parts divided by dots or underscores. */
  readonly type?: string;
  readonly description?: string;
}

/** What fits a search, best first, and in the given order where it fits equally well; all of it for an empty search. */
export function findRanked<Item>(
  items: readonly Item[],
  search: string,
  searchedOf: (item: Item) => Searched,
): readonly Item[] {
  const words = wordsOf(search);
  if (words.length === 0) return items;
  const ranked = items.flatMap((item) => {
    const distance = distanceOf(searchedOf(item), words);
    return distance === null ? [] : [{ item, distance }];
  });
  return ranked.toSorted((a, b) => a.distance - b.distance).map(({ item }) => item);
}

function wordsOf(text: string): readonly string[] {
  return normal(text).split(/\s+/).filter(Boolean);
}

/** Wide and narrow forms, and capital and small letters, are the same. */
function normal(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

/** How far something is from the words, each of which must fit; null if one doesn't. */
function distanceOf(
  { title, synonyms = [], type = '', description = '' }: Searched,
  words: readonly string[],
): number | null {
  const name = normal(title);
  const others = synonyms.map(normal);
  let sum = 0;
  for (const word of words) {
    const distance = distanceOfWord(word, { name, others, type, description: normal(description) });
    if (distance === null) return null;
    sum += distance;
  }
  return sum;
}

interface Normalised {
  readonly name: string;
  readonly others: readonly string[];
  readonly type: string;
  readonly description: string;
}

/**
 * Titles first, then other words for it, then parts of words, then the description, then slips. A whole word of the title or of the
 * synonyms comes before a longer word that begins with it: who types "mail" means e-mail before Mailchimp.
 */
function distanceOfWord(word: string, { name, others, type, description }: Normalised): number | null {
  const words = wordsOf(name);
  const tests = [
    name === word,
    words.includes(word),
    others.includes(word),
    words.some((part) => part.startsWith(word)),
    others.some((other) => other.startsWith(word)),
    name.includes(word) || type.split(/[._]/).some((part) => part.startsWith(word)),
    others.some((other) => other.includes(word)),
    description.includes(word),
    [...words, ...others.flatMap(wordsOf)].some((part) => isSlip(word, part)),
  ];
  const first = tests.indexOf(true);
  return first === -1 ? null : first;
}

/** Shorter words are too similar to each other. */
const MIN_SLIP = 4;

/** Whether one letter is missing, superfluous, wrong, or swapped with the next. */
function isSlip(typed: string, word: string): boolean {
  if (typed.length < MIN_SLIP || Math.abs(typed.length - word.length) > 1) return false;
  let same = 0;
  while (same < typed.length && typed[same] === word[same]) same += 1;
  const [rest, wanted] = [typed.slice(same), word.slice(same)];
  return (
    rest.slice(1) === wanted ||
    rest === wanted.slice(1) ||
    rest.slice(1) === wanted.slice(1) ||
    (rest[0] === wanted[1] && rest[1] === wanted[0] && rest.slice(2) === wanted.slice(2))
  );
}
