import type { Meter, Work } from '@millrace/engine';

export interface SplitOptions {
  /** Most characters or estimated tokens of a part. */
  readonly size: number;
  /** How much of the end of a part the next one begins with. */
  readonly overlap: number;
  readonly unit: 'characters' | 'tokens';
  /** Markdown is divided at its headings first. */
  readonly isMarkdown: boolean;
}

export interface Part {
  readonly text: string;
  /** The headings above it, outermost first; empty for plain text. */
  readonly headings: readonly string[];
}

/** A stretch of the text. */
interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** Where text may be divided, best first: between paragraphs, lines, sentences, words. Each pattern takes linear time. */
const BOUNDARIES: readonly RegExp[] = [/\n[^\S\n]*\n\s*/g, /\n/g, /[.!?]["')\]]*\s+|[。！？]/g, /\s+/g];

/**
 * Divides a text into parts of at most a size, at the best boundaries that allow it. Parts follow each other without gaps but for blanks; each
 * begins with the end of the one before it, as far as the overlap allows.
 */
export function* splitText(text: string, options: SplitOptions, meter: Meter): Work<Part[]> {
  const measure = yield* measureOf(text, options.unit, meter);
  const sections = options.isMarkdown
    ? yield* sectionsOf(text, meter)
    : [{ start: 0, end: text.length, headings: [] }];
  const parts: Part[] = [];
  for (const { headings, ...section } of sections) {
    const pieces: Stretch[] = [];
    yield* divide(text, section, 0, { size: options.size, measure, meter }, pieces);
    for (const { start, end } of packed(text, pieces, options, measure)) {
      const part = text.slice(start, end).trim();
      meter.spend(1);
      if (part !== '') parts.push({ text: part, headings });
    }
    if (meter.isDue) yield meter.take();
  }
  return parts;
}

/** How large a stretch is. */
type Measure = (start: number, end: number) => number;

/** Estimated tokens are added up once, so that any stretch is a difference of two sums. */
function* measureOf(text: string, unit: SplitOptions['unit'], meter: Meter): Work<Measure> {
  if (unit === 'characters') return (start, end) => end - start;
  const sums = new Float64Array(text.length + 1);
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) {
    sum += tokensOf(text.charCodeAt(at));
    sums[at + 1] = sum;
    meter.spendText(1);
    if (meter.isDue) yield meter.take();
  }
  return (start, end) => (sums[end] ?? 0) - (sums[start] ?? 0);
}

/**
 * What a character costs in tokens, about: four Latin letters are one, two of other alphabets, and each of the Chinese and Japanese characters.
 */
function tokensOf(code: number): number {
  if (code < 0x250) return 0.25;
  return code < 0x2e80 ? 0.5 : 1;
}

/** The stretches between headings, each beginning with its heading. What looks like a heading in a code block is none. */
function* sectionsOf(text: string, meter: Meter): Work<(Stretch & { headings: readonly string[] })[]> {
  const sections: (Stretch & { headings: readonly string[] })[] = [];
  let path: { readonly level: number; readonly title: string }[] = [];
  let start = 0;
  let fence: string | null = null;
  const close = (end: number): void => {
    if (end > start) sections.push({ start, end, headings: path.map(({ title }) => title) });
    start = end;
  };
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const end = newline === -1 ? text.length : newline + 1;
    // Longer lines are no headings, and reading all of each would add up.
    const line = text.slice(at, Math.min(end, at + MAX_HEADING));
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined) {
      if (fence === null) fence = mark;
      else if (mark.startsWith(fence)) fence = null;
    }
    const heading = fence === null ? /^ {0,3}(#{1,6})[ \t]+(\S.*)/.exec(line) : null;
    if (heading !== null) {
      close(at);
      const level = heading[1]?.length ?? 1;
      const title = (heading[2] ?? '').replace(/[ \t]+#*[ \t]*$/, '').trim();
      path = [...path.filter((above) => above.level < level), { level, title }];
    }
    at = end;
    meter.spendText(line.length + 64);
    if (meter.isDue) yield meter.take();
  }
  close(text.length);
  return sections;
}

const MAX_HEADING = 300;

/** Divides a stretch into pieces that fit, at the first kind of boundary where it can; the last resort is between characters. */
function* divide(
  text: string,
  stretch: Stretch,
  level: number,
  limit: { readonly size: number; readonly measure: Measure; readonly meter: Meter },
  pieces: Stretch[],
): Work<void> {
  const { size, measure, meter } = limit;
  if (measure(stretch.start, stretch.end) <= size) {
    pieces.push(stretch);
    return;
  }
  const pattern = BOUNDARIES[level];
  if (pattern === undefined) {
    yield* cut(text, stretch, limit, pieces);
    return;
  }
  let start = stretch.start;
  const boundary = new RegExp(pattern);
  boundary.lastIndex = start;
  while (start < stretch.end) {
    const found = boundary.exec(text);
    const end = found === null ? stretch.end : Math.min(stretch.end, found.index + found[0].length);
    yield* divide(text, { start, end }, level + 1, limit, pieces);
    meter.spend(1);
    meter.spendText(end - start);
    if (meter.isDue) yield meter.take();
    start = end;
  }
}

/** Cuts a word that is longer than a part, such as a long address, but never a character in two. */
function* cut(
  text: string,
  { start, end }: Stretch,
  { size, measure, meter }: { readonly size: number; readonly measure: Measure; readonly meter: Meter },
  pieces: Stretch[],
): Work<void> {
  let from = start;
  for (let at = start; at < end; ) {
    const next = at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
    if (measure(from, next) > size && at > from) {
      pieces.push({ start: from, end: at });
      from = at;
    }
    at = next;
    meter.spendText(1);
    if (meter.isDue) yield meter.take();
  }
  pieces.push({ start: from, end });
}

/** Puts pieces that follow each other into parts, as many as fit. */
function* packed(
  text: string,
  pieces: readonly Stretch[],
  { size, overlap }: SplitOptions,
  measure: Measure,
): Generator<Stretch> {
  let current: Stretch | null = null;
  for (const piece of pieces) {
    if (current === null) {
      current = piece;
    } else if (measure(current.start, piece.end) <= size) {
      current = { start: current.start, end: piece.end };
    } else {
      yield current;
      const start = overlapStart(text, current, overlap, measure);
      // The piece alone fits; with what it should overlap it may not.
      current = { start: measure(start, piece.end) <= size ? start : piece.start, end: piece.end };
    }
  }
  if (current !== null) yield current;
}

/** Where the overlap with a part begins: at a word within reach of its end. */
function overlapStart(text: string, { start, end }: Stretch, overlap: number, measure: Measure): number {
  if (overlap === 0) return end;
  let at = end;
  let word = end;
  while (at > start && measure(at - 1, end) <= overlap) {
    at -= 1;
    if (/\s/.test(text[at - 1] ?? ' ')) word = at;
  }
  if (word < end) return word;
  // No blank within reach, as in Japanese: between any two characters.
  return /[\udc00-\udfff]/.test(text[at] ?? '') ? at + 1 : at;
}
