/**
 * Regular expressions of users, made harmless: JavaScript's engine backtracks, so a short pattern and a long text can
 * keep a process busy for years. What could be exponential is refused; what is polynomial bounds the text's length.
 */

const MAX_PATTERN_LENGTH = 500;
/** Steps of backtracking that may be spent on one text; some tenths of a second. */
const MAX_STEPS = 5e7;
/** A group of alternatives may be repeated this often: 4^4 ways are few. */
const MAX_REPEATED_ALTERNATIVES = 4;
const MAX_WAYS = 10_000;

/** Why a pattern cannot be used, in words; null when it can. */
export function findPatternFault(pattern: string): string | null {
  if (pattern.length > MAX_PATTERN_LENGTH) return `is longer than ${MAX_PATTERN_LENGTH} characters`;
  try {
    new RegExp(pattern, 'u');
  } catch {
    return 'is not a regular expression';
  }
  return analysePattern(pattern).fault;
}

/** Whether the time a pattern takes grows no faster than the text. */
export function isLinearPattern(pattern: string): boolean {
  return powerOf(pattern) <= 1;
}

/** A pattern that may begin anywhere is tried at every place. */
function powerOf(pattern: string): number {
  const { loops } = analysePattern(pattern);
  return loops + (pattern.startsWith('^') && !pattern.includes('|') ? 0 : 1);
}

/** Like its base, but answers false for texts that could take too long. */
export class BoundedRegExp extends RegExp {
  readonly #maxLength: number;

  constructor(pattern: string) {
    super(pattern, 'u');
    const { ways, fault } = analysePattern(pattern);
    this.#maxLength = fault === null ? (MAX_STEPS / ways) ** (1 / Math.max(1, powerOf(pattern))) : 0;
  }

  override test(text: string): boolean {
    return text.length <= this.#maxLength && super.test(text);
  }
}

/** What is known of a part of a pattern that is being read. */
interface Group {
  /** Repetitions of variable length: the power of the running time in the length of the text. */
  loops: number;
  /** Ways to match the branch that is being read, and those of the branches before it. */
  ways: number;
  waysBefore: number;
}

interface Cost {
  readonly loops: number;
  readonly ways: number;
  readonly fault: string | null;
}

function analysePattern(pattern: string): Cost {
  const open: Group[] = [];
  let group: Group = { loops: 0, ways: 1, waysBefore: 0 };
  /** What a quantifier that comes next would repeat. */
  let last = { loops: 0, ways: 1 };
  for (const [token] of pattern.matchAll(TOKEN)) {
    if (token.startsWith('(')) {
      open.push(group);
      group = { loops: 0, ways: 1, waysBefore: 0 };
    } else if (token === ')') {
      last = { loops: group.loops, ways: group.waysBefore + group.ways };
      group = open.pop() ?? group;
      group.loops += last.loops;
      group.ways *= last.ways;
    } else if (token === '|') {
      group.waysBefore += group.ways;
      group.ways = 1;
    } else if (/^[*+?{]/.test(token)) {
      const fault = repeat(group, last, token);
      if (fault !== null) return { ...group, fault };
      last = { loops: 0, ways: 1 };
    } else {
      // A reference to a group may be of any length, like a repetition.
      if (/^\\[1-9k]/.test(token)) group.loops += 1;
      last = { loops: 0, ways: 1 };
    }
  }
  const ways = group.waysBefore + group.ways;
  return { loops: group.loops, ways, fault: ways > MAX_WAYS ? 'has too many alternatives' : null };
}

/** Adds to a group that its last part is repeated; or tells why that part must not be. */
function repeat(group: Group, last: { loops: number; ways: number }, quantifier: string): string | null {
  const { min, max } = repetitionOf(quantifier);
  if (max > MAX_REPEATED_ALTERNATIVES && last.loops > 0) {
    return 'repeats a group that holds a repetition, which can take for ever; take one of them away';
  }
  if (max > MAX_REPEATED_ALTERNATIVES && last.ways > 1) {
    return 'repeats a group of alternatives, which can take for ever; use a class such as [ab] instead';
  }
  if (max > 1 && last.loops + last.ways > 1) {
    group.loops += last.loops * (max - 1);
    group.ways *= last.ways ** (max - 1);
  }
  if (max === 1 && min === 0) group.ways *= 2;
  else if (max !== min) group.loops += 1;
  return null;
}

/** Groups with their kind, classes, escapes, quantifiers with their laziness, and all other characters one by one. */
const TOKEN =
  /\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?|\)|\[(?:\\.|[^\]\\])*\]|\\.|[*+?]\??|\{\d+(?:,\d*)?\}\??|\||./gsu;

function repetitionOf(quantifier: string): { min: number; max: number } {
  if (quantifier.startsWith('*')) return { min: 0, max: Infinity };
  if (quantifier.startsWith('+')) return { min: 1, max: Infinity };
  if (quantifier.startsWith('?')) return { min: 0, max: 1 };
  const [, min = '0', comma, max] = /^\{(\d+)(,)?(\d+)?\}/.exec(quantifier) ?? [];
  if (comma === undefined) return { min: Number(min), max: Number(min) };
  return { min: Number(min), max: max === undefined ? Infinity : Number(max) };
}
