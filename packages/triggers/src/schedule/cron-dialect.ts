import { message } from '@millrace/messages';
import { NodeProblem } from '@millrace/node-kit/node-problem';

/*
 * Converts common cron syntax to what croner supports: nicknames (`@daily`), a step from a single value (`0/15`), and ranges that wrap
 * around the end of their field (`FRI-MON`, `22-4`). Reports mistakes for which croner's own error would be unclear; everything else is
 * left unchanged.
 */

const NICKNAMES: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);

interface Field {
  readonly min: number;
  readonly max: number;
  /** Names of the values, starting at `min`. */
  readonly names: readonly string[];
  /** Whether `max` is always followed by `min`: months have different lengths. */
  readonly isEven: boolean;
}

const field = (min: number, max: number, names: readonly string[] = [], isEven = true): Field => ({
  min,
  max,
  names,
  isEven,
});
const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const FIELDS: readonly Field[] = [
  field(0, 59),
  field(0, 59),
  field(0, 23),
  field(1, 31, [], false),
  field(1, 12, MONTHS),
  field(0, 6, DAYS),
];

const ITEM = /^(?<from>\d+|[a-z]{3})(?:-(?<to>\d+|[a-z]{3}))?(?:\/(?<step>\d+))?$/i;

/**
 * Converts an expression to what croner supports.
 * @throws NodeProblem
 */
export function readCronDialect(expression: string): string {
  const text = expression.trim();
  if (text.startsWith('@')) {
    const fields = NICKNAMES.get(text.toLowerCase());
    if (fields !== undefined) return fields;
    throw new NodeProblem(
      message('nodes.unknown_nickname', { name: text, names: [...NICKNAMES.keys()].join(', ') }),
    );
  }
  // It would mean the moment at which the expression is parsed.
  if (text.includes('?')) throw new NodeProblem(message('nodes.cron_question_mark'));
  const parts = text === '' ? [] : text.split(/\s+/);
  if (parts.length !== 5 && parts.length !== 6) {
    throw new NodeProblem(message('nodes.cron_fields', { fields: parts.length }));
  }
  const fields = FIELDS.slice(FIELDS.length - parts.length);
  return parts.map((part, index) => readField(part, fields[index] ?? field(0, 0))).join(' ');
}

function readField(text: string, of: Field): string {
  return text
    .split(',')
    .map((item) => readItem(item, of))
    .join(',');
}

function readItem(item: string, of: Field): string {
  const { from: first, to: last, step } = ITEM.exec(item)?.groups ?? {};
  if (first === undefined || (last === undefined && step === undefined)) return item;
  const from = readValue(first, of);
  // On its own, croner describes an invalid value clearly.
  if (from === null) return first;
  const steps = step === undefined ? '' : `/${step}`;
  if (last === undefined) return `${from}-${of.max}${steps}`;
  const to = readValue(last, of);
  if (to === null) return last;
  if (from <= to && first !== '7') return item;
  if (from <= to) return `${from}-${to}${steps}`;
  return readAround(item, { from, to, step: Number(step ?? 1), steps }, of);
}

/** Splits a range that wraps around the end of its field into two; steps are counted across. */
function readAround(
  item: string,
  {
    from,
    to,
    step,
    steps,
  }: { readonly from: number; readonly to: number; readonly step: number; readonly steps: string },
  of: Field,
): string {
  if (step === 0) return item;
  if (step > 1 && !of.isEven) {
    throw new NodeProblem(message('nodes.cron_past_month', { range: item }));
  }
  const last = from + Math.floor((of.max - from) / step) * step;
  const begin = last + step - (of.max - of.min + 1);
  const before = `${from}-${of.max}${steps}`;
  return begin > to ? before : `${before},${begin}-${to}${steps}`;
}

/** Null for an invalid value. 7 is Sunday as well. */
function readValue(text: string, { min, max, names }: Field): number | null {
  const named = names.indexOf(text.toUpperCase());
  if (named !== -1) return min + named;
  if (!/^\d+$/.test(text)) return null;
  const value = Number(text);
  if (names === DAYS && value === 7) return 0;
  return value >= min && value <= max ? value : null;
}
