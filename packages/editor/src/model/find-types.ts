import type { NodeType } from './editor-state.ts';

export interface FoundGroup {
  readonly group: string;
  readonly types: readonly NodeType[];
}

/** Node types that fit a search, best first, by group; all of them, in the catalogue's order, for an empty one. */
export function findTypes(types: readonly NodeType[], search: string): readonly FoundGroup[] {
  const words = wordsOf(search);
  if (words.length === 0) return grouped(types);
  const ranked = types.flatMap((type) => {
    const distance = distanceOf(type, words);
    return distance === null ? [] : [{ type, distance }];
  });
  return grouped(ranked.toSorted((a, b) => a.distance - b.distance).map(({ type }) => type));
}

function grouped(types: readonly NodeType[]): readonly FoundGroup[] {
  return [...Map.groupBy(types, ({ group }) => group)].map(([group, members]) => ({ group, types: members }));
}

function wordsOf(text: string): readonly string[] {
  return normal(text).split(/\s+/).filter(Boolean);
}

/** Wide and narrow forms, and capital and small letters, are the same. */
function normal(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

/** How far a type is from the words, each of which must fit; null if one doesn't. */
function distanceOf(
  { title, synonyms, type, description }: NodeType,
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

interface Searched {
  readonly name: string;
  readonly others: readonly string[];
  readonly type: string;
  readonly description: string;
}

/** Titles first, then other words for it, then parts of words, then the description, then slips. */
function distanceOfWord(word: string, { name, others, type, description }: Searched): number | null {
  const tests = [
    name === word,
    wordsOf(name).some((part) => part.startsWith(word)),
    others.includes(word),
    others.some((other) => other.startsWith(word)),
    name.includes(word) || type.split(/[._]/).some((part) => part.startsWith(word)),
    others.some((other) => other.includes(word)),
    description.includes(word),
    [...wordsOf(name), ...others.flatMap(wordsOf)].some((part) => isSlip(word, part)),
  ];
  const first = tests.indexOf(true);
  return first === -1 ? null : first;
}

/** Shorter words are too similar to each other. */
const SHORTEST_SLIP = 4;

/** Whether one letter is missing, superfluous, wrong, or swapped with the next. */
function isSlip(typed: string, word: string): boolean {
  if (typed.length < SHORTEST_SLIP || Math.abs(typed.length - word.length) > 1) return false;
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
