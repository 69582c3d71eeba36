import { quote } from '@millrace/importer-kit/refs';
import { constantOf, type Node, nameOfMember, unwrapped } from './expressions.ts';

/** The template for a value of n8n's expressions within another one; null if there is none. */
type Operand = (node: Node) => string | null;

/** Dates of n8n, which come from Luxon, and what becomes of them: `$now.minus({ days: 7 }).toISO()`. */
export function dateOf(node: Node, operand: Operand): string | null {
  const moment = momentOf(node, operand);
  if (moment !== null) return moment;
  if (node.type !== 'CallExpression') return null;
  const { callee, arguments: args } = node;
  if (callee.type !== 'MemberExpression') return null;
  const object = unwrapped(callee.object);
  const name = nameOfMember(callee) ?? '';
  if (object.type === 'Identifier' && object.name === 'Date' && name === 'now')
    return 'now | date: "unix_ms"';
  const text = momentOf(object, operand) ?? (isNewDate(object) ? 'now' : null);
  if (text === null) return null;
  if (name === 'toFormat' || (name === 'format' && !isNewDate(object))) {
    const [only, ...others] = args;
    const format = only === undefined || others.length > 0 ? null : formatOf(constantOf(only));
    return format === null ? null : `${text} | date: ${quote(format)}`;
  }
  if (args.length > 0) return null;
  // Without a filter of its own it is a text in UTC already, unless it is somebody's text.
  if (name === 'toISO' || name === 'toISOString')
    return text.startsWith('now') ? text : `${text} | date: "iso"`;
  const format = ENDS.get(name);
  return format === undefined ? null : `${text} | date: ${quote(format)}`;
}

const ENDS: ReadonlyMap<string, string> = new Map([
  ['toMillis', 'unix_ms'],
  ['getTime', 'unix_ms'],
  ['valueOf', 'unix_ms'],
  ['toUnixInteger', 'unix'],
  ['toISODate', 'yyyy-MM-dd'],
]);

/** `new Date()`: the present. */
function isNewDate(node: Node): boolean {
  if (node.type !== 'NewExpression' || node.arguments.length > 0) return false;
  return node.callee.type === 'Identifier' && node.callee.name === 'Date';
}

/** A moment and how it was moved; what is inside of a template may have filters. */
function momentOf(given: Node, operand: Operand): string | null {
  const node = unwrapped(given);
  if (node.type === 'Identifier') {
    if (node.name === '$now') return 'now';
    return node.name === '$today' ? 'now | start_of: "day"' : null;
  }
  if (node.type !== 'CallExpression') return null;
  const { callee, arguments: args } = node;
  if (callee.type !== 'MemberExpression') return null;
  const object = unwrapped(callee.object);
  const name = nameOfMember(callee) ?? '';
  const [only, ...others] = args;
  const single = others.length === 0 ? only : undefined;
  if (object.type === 'Identifier' && object.name === 'DateTime') {
    if (args.length === 0) return ['now', 'local', 'utc'].includes(name) ? 'now' : null;
    return name === 'fromISO' && single !== undefined ? operand(single) : null;
  }
  const before = momentOf(object, operand);
  if (before === null) return null;
  if (name === 'startOf' || name === 'endOf') {
    const unit = single === undefined ? null : unitOf(constantOf(single));
    return unit === null ? null : `${before} | ${name === 'startOf' ? 'start_of' : 'end_of'}: ${quote(unit)}`;
  }
  if (name !== 'plus' && name !== 'minus') return null;
  const moves = movesOf(args);
  if (moves === null) return null;
  const sign = name === 'plus' ? 1 : -1;
  return moves.reduce((text, [count, unit]) => `${text} | date_add: ${sign * count}, ${quote(unit)}`, before);
}

/** `{ days: 7, hours: 1 }`, or `7, "days"`. */
function movesOf([first, second]: readonly Node[]): (readonly [count: number, unit: string])[] | null {
  if (first === undefined) return null;
  if (second !== undefined) {
    const [count, unit] = [constantOf(first), unitOf(constantOf(second))];
    return typeof count === 'number' && unit !== null ? [[count, unit]] : null;
  }
  if (first.type !== 'ObjectExpression') return null;
  const moves = first.properties.map((property) => {
    if (property.type !== 'Property' || property.computed) return null;
    const { key, value } = property;
    const unit = unitOf(key.type === 'Identifier' ? key.name : constantOf(key));
    const count = constantOf(value);
    return unit !== null && typeof count === 'number' ? ([count, unit] as const) : null;
  });
  return moves.includes(null) ? null : moves.filter((move) => move !== null);
}

const UNITS = 'milliseconds seconds minutes hours days weeks months quarters years'.split(' ');

function unitOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const name = value.toLowerCase();
  return UNITS.find((unit) => unit === name || unit === `${name}s`) ?? null;
}

/** Letters of Luxon's formats by those of the filter. */
const LETTERS: ReadonlyMap<string, string> = new Map([
  ...'yyyy yy MMMM MMM MM M dd d EEEE EEE HH H hh h mm m ss s SSS a'
    .split(' ')
    .map((letters) => [letters, letters] as const),
  ['LLLL', 'MMMM'],
  ['LLL', 'MMM'],
  ['LL', 'MM'],
  ['L', 'M'],
  ['cccc', 'EEEE'],
  ['ccc', 'EEE'],
  ['ZZ', 'xxx'],
  ['ZZZ', 'xx'],
]);

/** The same format with the letters of the filter; null if it has others. */
function formatOf(format: unknown): string | null {
  if (typeof format !== 'string') return null;
  let isKnown = true;
  const translated = format.replace(/'[^']*'|([A-Za-z])\1*/g, (part) => {
    if (part.startsWith("'")) return part;
    const letters = LETTERS.get(part);
    if (letters === undefined) isKnown = false;
    return letters ?? '';
  });
  return isKnown ? translated : null;
}
