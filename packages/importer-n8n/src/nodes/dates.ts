import { type JsonValue, own } from '@millrace/engine';
import { message } from '@millrace/messages';
import type { Out } from '../compiler.ts';
import { type Step, Unmappable } from '../step.ts';

/** What each operation computes, and the field it is in unless the node names another. */
const OPERATIONS: {
  readonly [operation: string]: { readonly field: string; readonly code: (step: Step) => string };
} = {
  getCurrentDate: {
    field: 'currentDate',
    code: (step) => (step.raw('includeTime') === false ? '$today.toISODate()' : '$now.toISO()'),
  },
  formatDate: {
    field: 'formattedDate',
    code: (step) => `${dateOf(step, 'date')}.toFormat(${step.source(formatIn(step))})`,
  },
  addToDate: { field: 'newDate', code: (step) => shifted(step, 'plus') },
  subtractFromDate: { field: 'newDate', code: (step) => shifted(step, 'minus') },
  getTimeBetweenDates: { field: 'timeDifference', code: between },
  extractDate: { field: 'datePart', code: partOf },
  roundDate: { field: 'roundedDate', code: rounded },
};

function dateOf(step: Step, path: string): string {
  return `DateTime.fromISO(String(${step.source(step.raw(path))}))`;
}

function formatIn(step: Step): JsonValue {
  const format = step.text('format', 'MM/dd/yyyy');
  return format === 'custom' ? (step.raw('customFormat') ?? '') : format;
}

function shifted(step: Step, method: string): string {
  const unit = JSON.stringify(step.text('timeUnit', 'days'));
  return `${dateOf(step, 'magnitude')}.${method}(Number(${step.source(step.raw('duration') ?? 0)}), ${unit}).toISO()`;
}

/** In the units that are asked for, the larger ones whole. */
function between(step: Step): string {
  const given = step.raw('units');
  const units = Array.isArray(given) && given.length > 0 ? given : ['day'];
  if (step.raw('options.isoString') === true || units.some((unit) => /year|month|quarter/.test(String(unit))))
    throw new Unmappable(message('import.unknown_operation', { operation: 'getTimeBetweenDates' }));
  const sizes = { week: 604_800_000, day: 86_400_000, hour: 3_600_000, minute: 60_000, second: 1_000 };
  return `((ms) => { let left = ms; const wanted = ${JSON.stringify(units)}, all = Object.entries(${JSON.stringify(sizes)}).filter(([unit]) => wanted.includes(unit)); return Object.fromEntries([...all.map(([unit, size], at) => { const count = wanted.includes('millisecond') || at < all.length - 1 ? Math.trunc(left / size) : left / size; left -= count * size; return [unit + 's', count]; }), ...(wanted.includes('millisecond') ? [['milliseconds', left]] : [])]); })(${dateOf(step, 'endDate')}.toMillis() - ${dateOf(step, 'startDate')}.toMillis())`;
}

function partOf(step: Step): string {
  const part = step.text('part', 'month');
  if (!['year', 'month', 'day', 'hour', 'minute', 'second', 'weekday'].includes(part))
    throw new Unmappable(message('import.unknown_operation', { operation: `extractDate ${part}` }));
  return `${dateOf(step, 'date')}.${part}`;
}

function rounded(step: Step): string {
  const isUp = step.text('mode', 'roundDown') === 'roundUp';
  const unit = JSON.stringify(step.text(isUp ? 'to' : 'toNearest', 'month'));
  const date = dateOf(step, 'date');
  return isUp ? `${date}.plus(1, ${unit}).startOf(${unit}).toISO()` : `${date}.startOf(${unit}).toISO()`;
}

/** Version 1 formats a date, or counts from one; its formats are those of Moment, as far as Luxon has the same. */
function first(step: Step): { readonly name: string; readonly code: string } {
  const name = step.text('dataPropertyName', 'data') || 'data';
  if (step.text('action', 'format') === 'calculate') {
    const method = step.text('operation', 'add') === 'subtract' ? 'minus' : 'plus';
    const unit = JSON.stringify(step.text('timeUnit', 'days'));
    const count = step.source(step.raw('duration') ?? 0);
    return { name, code: `${dateOf(step, 'value')}.${method}(Number(${count}), ${unit}).toISO()` };
  }
  const given = step.raw('options.fromFormat');
  const format = step.raw('custom') === true ? step.text('toFormat') : step.text('toFormat', 'MM/DD/YYYY');
  if (given !== undefined || format.startsWith('=') || /[^YMDHhmsaAxX:/., -]/.test(format))
    throw new Unmappable(message('import.unknown_operation', { operation: `format ${format}` }));
  return { name, code: `${dateOf(step, 'value')}.toFormat(${JSON.stringify(format.replaceAll('A', 'a'))})` };
}

/** Date & Time: what it computes is a field of the item that it passes on. */
export function dateTime(step: Step): readonly Out[] {
  // A file that names no operation of version 2 has those of version 1.
  const isFirst = step.node.version < 2 && !Object.hasOwn(OPERATIONS, step.text('operation'));
  if (isFirst) {
    const { name, code } = first(step);
    const id = step.add('core.code', {
      code: 'return { ...input.item, [input.name]: input.value };',
      input: { item: step.item(), name, value: step.computed(code) },
    });
    return [step.one(`nodes.${id}.output.result`)];
  }
  const operation = step.text('operation', 'getCurrentDate');
  const found = own(OPERATIONS, operation);
  if (found === undefined) throw new Unmappable(message('import.unknown_operation', { operation }));
  const name = step.text('outputFieldName') || found.field;
  const id = step.add('core.set', { values: { [name]: step.computed(found.code(step)) } });
  return [step.one(`nodes.${id}.output`)];
}
