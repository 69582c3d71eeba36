import {
  isJsonArray,
  isRawNumber,
  type JsonObject,
  type JsonText,
  type JsonValue,
  parseJson,
  setOwn,
  stringifyJson,
} from './json.ts';
import { endOfString } from './json-depth.ts';
import { type Meter, stepsToRead, type Work } from './work.ts';

/** Shorter text is parsed at once: in half a millisecond, or in twenty if it is full of numbers that a double can't hold. */
const PIECE_CHARACTERS = 64 * 1024;
/** Characters that are parsed in one step. */
const STEP_CHARACTERS = 64;
/** Characters that are looked at between two looks at the meter. */
const STRIDE = 16 * 1024;
/** Values that take fewer steps are written at once. */
const SMALL_STEPS = 1_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const LIST = 0x5b;
const LIST_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;

const BLANK = /^[ \t\n\r]*$/;

/**
 * {@link parseJson} in pieces: long lists and objects are cut between their members, and each run of members is parsed by itself.
 * @param pieceCharacters length of text that is parsed at once
 * @throws SyntaxError when the text isn't JSON
 */
export function parseWork<Value extends JsonValue>(
  text: JsonText<Value>,
  meter: Meter,
  pieceCharacters?: number,
): Work<Value>;
export function parseWork(text: string, meter: Meter, pieceCharacters?: number): Work<JsonValue>;
export function* parseWork(text: string, meter: Meter, pieceCharacters = PIECE_CHARACTERS): Work<JsonValue> {
  if (text.length <= pieceCharacters) {
    meter.spend(text.length / STEP_CHARACTERS);
    return parseJson(text);
  }
  const reader = new Reader(text, pieceCharacters);
  while (!reader.isAtEnd) {
    meter.spend(reader.advance() / STEP_CHARACTERS);
    if (meter.isDue) yield meter.take();
  }
  return reader.finish();
}

/** Deeper text is parsed at once: further levels aren't followed. */
const MAX_DEPTH = 2_000;

/** A list or an object whose end hasn't been reached. */
interface Open {
  readonly isList: boolean;
  readonly start: number;
  /** Where the members begin that haven't been parsed. */
  from: number;
  /** The last comma between its members. */
  comma: number;
  /** What was parsed of it; null as long as it may become part of a run of the one around it. */
  parts: Parts | null;
  /** In the object around it; '' in a list. */
  name: string;
  /** Whether what comes before `from` was parsed by itself, so that only a comma or the end may follow. */
  isAfterPart: boolean;
}

type Parts = JsonValue[] | { [name: string]: JsonValue };

/** Finds where lists, objects and their members begin and end, and leaves everything else to the parser. */
class Reader {
  readonly #text: string;
  readonly #pieceCharacters: number;
  readonly #open: Open[] = [];
  #at = 0;
  #isTooDeep = false;
  /** What the text comes to, if it was parsed in pieces, and where that ends. */
  #whole: { readonly value: JsonValue; readonly end: number } | null = null;

  constructor(text: string, pieceCharacters: number) {
    this.#text = text;
    this.#pieceCharacters = pieceCharacters;
  }

  get isAtEnd(): boolean {
    return this.#isTooDeep || this.#at >= this.#text.length;
  }

  /** @returns how many characters it has looked at */
  advance(): number {
    const text = this.#text;
    const from = this.#at;
    const until = Math.min(from + STRIDE, text.length);
    let at = from;
    for (; at < until && !this.#isTooDeep; at += 1) {
      const char = text.charCodeAt(at);
      if (char === QUOTE) at = endOfString(text, at);
      else if (char === COMMA) this.#comma(at);
      else if (char === LIST || char === OBJECT) this.#begin(at, char === LIST);
      else if (char === LIST_END || char === OBJECT_END) this.#end(at, char === LIST_END);
    }
    this.#at = at;
    return at - from;
  }

  finish(): JsonValue {
    // What was never cut is short, or one long text.
    if (this.#isTooDeep || this.#whole === null) return parseJson(this.#text);
    this.#expectBlank(this.#whole.end, this.#text.length);
    return this.#whole.value;
  }

  #begin(at: number, isList: boolean): void {
    if (this.#open.length >= MAX_DEPTH) this.#isTooDeep = true;
    else {
      const from = at + 1;
      this.#open.push({ isList, start: at, from, comma: at, parts: null, name: '', isAfterPart: false });
    }
  }

  #comma(at: number): void {
    const open = this.#open.at(-1);
    if (open === undefined) throw new SyntaxError('JSON has a comma outside of lists and objects');
    open.comma = at;
    if (open.isAfterPart) {
      this.#expectBlank(open.from, at);
      open.isAfterPart = false;
      open.from = at + 1;
    } else if (at - open.from >= this.#pieceCharacters) {
      this.#cut();
      this.#parseRun(open, at);
    }
  }

  #end(at: number, isList: boolean): void {
    const open = this.#open.pop();
    if (open === undefined || open.isList !== isList) throw new SyntaxError('JSON has a wrong bracket');
    if (open.parts === null) return;
    if (open.isAfterPart) this.#expectBlank(open.from, at);
    else this.#parseRun(open, at);
    const around = this.#open.at(-1);
    if (around === undefined) {
      if (this.#whole !== null) throw new SyntaxError('JSON has two values');
      this.#whole = { value: open.parts, end: at + 1 };
      return;
    }
    add(around, open.name, open.parts);
    around.from = at + 1;
    around.isAfterPart = true;
  }

  /** From now on, what is open is parsed run by run. */
  #cut(): void {
    for (const [level, open] of this.#open.entries()) {
      if (open.parts !== null) continue;
      const around = this.#open[level - 1];
      if (around === undefined) {
        if (this.#whole !== null) throw new SyntaxError('JSON has two values');
        this.#expectBlank(0, open.start);
      } else open.name = this.#leadTo(around, open);
      open.parts = open.isList ? [] : {};
    }
  }

  /** Parses what comes before a member. @returns the member's name */
  #leadTo(around: Open, { start }: Open): string {
    if (around.isAfterPart) throw new SyntaxError('JSON lacks a comma');
    if (around.comma >= around.from) this.#parseRun(around, around.comma);
    if (around.isList) {
      this.#expectBlank(around.from, start);
      return '';
    }
    const [name = ''] = Object.keys(JSON.parse(`{${this.#text.slice(around.from, start)}null}`) as object);
    return name;
  }

  /** The members up to a comma or the end. */
  #parseRun(open: Open, end: number): void {
    const run = this.#text.slice(open.from, end);
    if (BLANK.test(run)) throw new SyntaxError('JSON lacks a value');
    const members = parseJson(open.isList ? `[${run}]` : `{${run}}`);
    if (isJsonArray(members)) for (const member of members) add(open, '', member);
    else for (const [name, member] of Object.entries(members as JsonObject)) add(open, name, member);
    open.from = end + 1;
  }

  #expectBlank(from: number, end: number): void {
    if (!BLANK.test(this.#text.slice(from, end))) throw new SyntaxError('JSON has something between values');
  }
}

function add({ parts }: Open, name: string, member: JsonValue): void {
  if (Array.isArray(parts)) parts.push(member);
  else if (parts !== null) setOwn(parts, name, member);
}

/** {@link stringifyJson} in pieces. */
export function* stringifyWork(value: JsonValue, meter: Meter): Work<string> {
  const steps = stepsToRead(value, SMALL_STEPS);
  meter.spend(steps);
  if (meter.isDue) yield meter.take();
  if (steps < SMALL_STEPS || value === null || typeof value !== 'object' || isRawNumber(value)) {
    return stringifyJson(value);
  }
  const parts: string[] = [];
  if (isJsonArray(value)) {
    yield* writeItems(value, parts, meter);
    return `[${parts.join(',')}]`;
  }
  for (const [name, member] of Object.entries(value as JsonObject)) {
    // As `stringifyJson` does.
    if (member === undefined) continue;
    parts.push(`${JSON.stringify(name)}:${yield* stringifyWork(member, meter)}`);
  }
  return `{${parts.join(',')}}`;
}

/** Small items are written together: the parts of a list of numbers would take more than the numbers. */
function* writeItems(items: readonly JsonValue[], parts: string[], meter: Meter): Work<void> {
  let from = 0;
  let steps = 0;
  for (const [at, item] of items.entries()) {
    const own = stepsToRead(item, SMALL_STEPS);
    steps += own;
    if (steps < SMALL_STEPS && at < items.length - 1) continue;
    const end = own < SMALL_STEPS ? at + 1 : at;
    if (end > from) parts.push(stringifyJson(items.slice(from, end)).slice(1, -1));
    meter.spend(end === at ? steps - own : steps);
    if (meter.isDue) yield meter.take();
    if (end === at) parts.push(yield* stringifyWork(item, meter));
    from = at + 1;
    steps = 0;
  }
}
