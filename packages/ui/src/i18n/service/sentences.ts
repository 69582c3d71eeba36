import type { ServiceTexts, Table } from './texts.ts';

interface Pattern {
  readonly expression: RegExp;
  readonly translation: string;
}

/** A sentence of the service in the reader's language; as it is where there is no translation. */
export function translateSentence(text: string, texts: ServiceTexts): string {
  return translate(text, texts) ?? text;
}

const QUOTED = '"(?:[^"\\\\]|\\\\.)*"';
const AT_NODE = new RegExp(`^(${QUOTED}): (.+)$`, 's');
const AT_CHARACTER = /^(.+) \(at character (\d+)\)$/s;
const ABOUT = new RegExp(`^(the config|the answer|the input(?:'s \\S+)?|${QUOTED}) (.+)$`, 's');
/** Sentences within sentences are few and short. */
const MAX_DEPTH = 4;

/** Null when there is no translation. */
export function translate(text: string, texts: ServiceTexts, depth = 0): string | null {
  if (depth > MAX_DEPTH) return null;
  const exact = own(texts.sentences, text);
  if (exact !== null) return exact;
  return (
    wrapped(AT_NODE.exec(text), texts, depth, (label, rest) => texts.atNode(label, rest)) ??
    wrapped(swap(AT_CHARACTER.exec(text)), texts, depth, (at, rest) => texts.atCharacter(at, rest)) ??
    fill(text, texts.sentences, texts, depth) ??
    wrapped(ABOUT.exec(text), texts, depth, (name, rest) => texts.about(name, rest))
  );
}

type Found = readonly (string | undefined)[] | null;

/** A sentence with something in front of it or behind it. */
function wrapped(
  found: Found,
  texts: ServiceTexts,
  depth: number,
  put: (what: string, sentence: string) => string,
): string | null {
  const [, what, sentence] = found ?? [];
  if (what === undefined || sentence === undefined) return null;
  const translated = translate(sentence, texts, depth + 1);
  return translated === null ? null : put(partOf(what, texts, depth), translated);
}

function swap(found: Found): Found {
  return found === null ? null : [found[0], found[2], found[1]];
}

/** What stands in a sentence: a name, an amount, another sentence, or data, which stays as it is. */
function partOf(text: string, texts: ServiceTexts, depth: number): string {
  const known = own(texts.parts, text) ?? fill(text, texts.parts, texts, depth);
  if (known !== null) return known;
  if (new RegExp(`^${QUOTED}$`).test(text)) return texts.quote(unquote(text));
  return translate(text, texts, depth + 1) ?? text;
}

function fill(text: string, table: Table, texts: ServiceTexts, depth: number): string | null {
  if (depth > MAX_DEPTH) return null;
  for (const { expression, translation } of patternsOf(table)) {
    const found = expression.exec(text);
    if (found !== null) {
      const value = (index: string) => partOf(found[Number(index) + 1] ?? '', texts, depth + 1);
      return joined(translation.split(/\{(\d)\}/).map((part, at) => (at % 2 === 0 ? part : value(part))));
    }
  }
  return null;
}

const WIDE = '[\\u3000-\\u30ff\\u4e00-\\u9fff\\uff00-\\uff60]';
const WIDE_AT_END = new RegExp(`${WIDE}$`);
const WIDE_AT_START = new RegExp(`^${WIDE}`);

/** Texts and values in turn. The blanks around a value are for Latin and digits: between two wide letters there is none. */
function joined(parts: readonly string[]): string {
  return parts.reduce((before, part) => {
    if (WIDE_AT_START.test(part) && before.endsWith(' ') && WIDE_AT_END.test(before.trimEnd())) {
      return before.slice(0, -1) + part;
    }
    if (WIDE_AT_END.test(before) && part.startsWith(' ') && WIDE_AT_START.test(part.slice(1))) {
      return before + part.slice(1);
    }
    return before + part;
  });
}

const compiled = new WeakMap<Table, readonly Pattern[]>();

/** Those with the most words of their own come first: they are the narrowest. */
function patternsOf(table: Table): readonly Pattern[] {
  const known = compiled.get(table);
  if (known !== undefined) return known;
  const patterns = Object.entries(table)
    .filter(([text]) => text.includes('{}'))
    .toSorted(([a], [b]) => b.replaceAll('{}', '').length - a.replaceAll('{}', '').length)
    .map(([text, translation]) => ({
      expression: new RegExp(`^${text.split('{}').map(escaped).join('(.+?)')}$`, 's'),
      translation,
    }));
  compiled.set(table, patterns);
  return patterns;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function unquote(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}

function own(table: Table, text: string): string | null {
  return Object.hasOwn(table, text) ? (table[text] ?? null) : null;
}
