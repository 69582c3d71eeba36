import {
  canonicalJson,
  canonicalWork,
  decimalText,
  isNumber,
  type JsonValue,
  type Meter,
  parseDecimal,
  stringifyJson,
  toDecimal,
  type Work,
} from '@millrace/engine';

/** The members of a list by what they equal, so that finding one doesn't take comparing with all. */
class Members {
  readonly #texts = new Set<string>();
  /** Values of texts that are numbers. */
  readonly #numericTexts = new Set<string>();
  readonly #numbers = new Set<string>();
  /** Everything else, in canonical form. */
  readonly #others = new Set<string>();

  *add(member: JsonValue, meter: Meter): Work<void> {
    if (typeof member === 'string') {
      this.#texts.add(member);
      const number = parseDecimal(member);
      if (number !== null) this.#numericTexts.add(decimalText(number));
      meter.spendText(member.length);
    } else if (isNumber(member)) {
      this.#numbers.add(numberKey(member));
    } else {
      this.#others.add(yield* keyOf(member, meter));
    }
  }

  /** Whether a member equals the value, by the rules of conditions.ts. */
  *has(value: JsonValue, meter: Meter): Work<boolean> {
    if (typeof value === 'string') {
      meter.spendText(value.length);
      if (this.#texts.has(value)) return true;
      if (value === 'true' || value === 'false') return this.#others.has(value);
      const number = parseDecimal(value);
      return number !== null && this.#numbers.has(decimalText(number));
    }
    if (isNumber(value)) {
      const key = numberKey(value);
      return this.#numbers.has(key) || this.#numericTexts.has(key);
    }
    if (typeof value === 'boolean' && this.#texts.has(String(value))) return true;
    return this.#others.has(yield* keyOf(value, meter));
  }
}

function* keyOf(value: JsonValue, meter: Meter): Work<string> {
  return value === null || typeof value !== 'object'
    ? canonicalJson(value)
    : yield* canonicalWork(value, meter);
}

function numberKey(value: JsonValue): string {
  const decimal = toDecimal(value);
  return decimal === null ? stringifyJson(value) : decimalText(decimal);
}

/** By list; `null` for one that has been searched once. Lists are never changed. */
const known = new WeakMap<readonly JsonValue[], Members | null>();
/** Shorter lists are compared member by member. */
const SHORT = 8;

/**
 * The index of a list that is searched again; null the first time, when comparing with every member costs less than the index. Loops
 * and the cases of a switch search one list many times.
 */
export function* membersOf(list: readonly JsonValue[], meter: Meter): Work<Members | null> {
  if (list.length < SHORT) return null;
  const before = known.get(list);
  if (before === undefined) known.set(list, null);
  if (before === undefined || before !== null) return before ?? null;
  const members = new Members();
  for (const member of list) {
    yield* members.add(member, meter);
    meter.spend(1);
    if (meter.isDue) yield meter.take();
  }
  known.set(list, members);
  return members;
}
