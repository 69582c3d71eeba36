import type { RenderedGuide } from './render.ts';

const MAX_FOUND = 30;
const MAX_WORDS = 8;
/** Characters shown before and after the first word that was found. */
const BEFORE = 60;
const AFTER = 160;

/** A section in which all words occur. */
export interface Found {
  readonly guide: RenderedGuide;
  readonly id: string;
  readonly heading: string;
  /** The surroundings of the first word. */
  readonly excerpt: string;
}

/** Sections that contain every word, those whose heading contains them first. */
export function searchGuides(guides: readonly RenderedGuide[], query: string): Found[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, MAX_WORDS);
  if (words.length === 0) return [];
  const found = guides.flatMap((guide) =>
    guide.sections.flatMap((section) => {
      const heading = section.heading.toLowerCase();
      if (!words.every((word) => section.searched.includes(word))) return [];
      const rank = words.filter((word) => heading.includes(word)).length;
      return [{ guide, ...section, rank }];
    }),
  );
  return found
    .sort((a, b) => b.rank - a.rank)
    .slice(0, MAX_FOUND)
    .map(({ guide, id, heading, text }) => ({ guide, id, heading, excerpt: excerptOf(text, words) }));
}

function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
  const at = Math.min(...places, text.length);
  const [from, to] = [Math.max(0, at - BEFORE), Math.min(text.length, at + AFTER)];
  return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`;
}
