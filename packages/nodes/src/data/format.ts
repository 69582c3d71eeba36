import {
  formatDate,
  fromExact,
  type JsonValue,
  type Meter,
  readField,
  roundExact,
  stringifyJson,
  toExact,
  type Work,
} from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import type { StepOf } from './config.ts';
import { withField } from './fields.ts';
import { DataProblem, describeMismatch, eachItem, fieldOf, objectAt } from './problem.ts';

/** The context of steps besides their data. */
export interface StepContext {
  /** IANA name of the workflow's time zone; null without one. */
  readonly timezone: string | null;
  /** Counts the work on the data. */
  readonly meter: Meter;
}

/** Steps that formatting a value takes. */
const FORMATTING = 10;

/** Formats moments, in the step's time zone or else the workflow's. */
export function dateFormat(
  data: JsonValue,
  step: StepOf<'format_date'>,
  { timezone, meter }: StepContext,
): Work<JsonValue> {
  const { format = 'yyyy-MM-dd', zone = timezone ?? 'UTC' } = step;
  if (formatDate(0, 'yyyy', zone) === null) {
    throw new DataProblem(message('nodes.unknown_zone', { zone }));
  }
  return eachField(data, step, meter, (value, where) => {
    const text = formatDate(value, format, zone);
    if (text === null)
      throw new DataProblem(message('nodes.needs_date', { where, given: describeMismatch(value, 'date') }));
    return text;
  });
}

/** Formats numbers, rounded half away from zero. */
export function numberFormat(
  data: JsonValue,
  step: StepOf<'format_number'>,
  { meter }: StepContext,
): Work<JsonValue> {
  const { decimals = 2, decimal_separator = '.', thousands_separator = ',', prefix = '', suffix = '' } = step;
  return eachField(data, step, meter, (value, where) => {
    const number = toExact(value);
    if (number === null)
      throw new DataProblem(
        message('nodes.needs_number', { where, given: describeMismatch(value, 'number') }),
      );
    const [, minus = '', whole = '', fraction = ''] =
      /^(-?)(\d+)(?:\.(\d+))?$/.exec(plainText(fromExact(roundExact(number, decimals)))) ?? [];
    const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, () => thousands_separator);
    const places = decimals === 0 ? '' : `${decimal_separator}${fraction.padEnd(decimals, '0')}`;
    return `${minus}${prefix}${grouped}${places}${suffix}`;
  });
}

/** The digits of a number without an exponent. */
function plainText(value: JsonValue): string {
  const text = stringifyJson(value);
  if (!/e/i.test(text)) return text;
  const number = toExact(value);
  if (number === null) return text;
  const digits = String(number.units < 0n ? -number.units : number.units).padStart(number.scale + 1, '0');
  const point = digits.length - number.scale;
  const places = number.scale === 0 ? '' : `.${digits.slice(point)}`;
  return `${number.units < 0n ? '-' : ''}${digits.slice(0, point)}${places}`;
}

/** Changes a field of each item, or of one object, or scalars themselves; null stays null. */
function eachField(
  data: JsonValue,
  { field = '', to = '' }: { readonly field?: string; readonly to?: string },
  meter: Meter,
  format: (value: JsonValue, where: Message) => JsonValue,
): Work<JsonValue> {
  return eachItem(data, meter, (item, where) => {
    meter.spend(FORMATTING);
    if (field === '') return item === null ? null : format(item, where);
    const object = objectAt(item, where);
    const value = readField(object, field);
    if (value === null) return object;
    return withField(object, to === '' ? field : to, format(value, fieldOf(field, where)));
  });
}
