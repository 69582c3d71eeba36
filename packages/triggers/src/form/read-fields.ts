import {
  type FileValue,
  fileIdOf,
  isJsonArray,
  type JsonObject,
  type JsonValue,
  own,
  parseJson,
  setOwn,
  validateValue,
} from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { type FormField, MAX_FILES_OF_FIELD, MAX_TEXT } from './fields.ts';

/** What is wrong with the value of a field. */
export interface FieldFault {
  readonly name: string;
  readonly message: Message;
}

export interface FormValues {
  /** By the names of the fields; null for what is empty. */
  readonly values: JsonObject;
  /** Of each field that can't be taken, in their order. */
  readonly faults: readonly FieldFault[];
}

type Read = { readonly value: JsonValue } | { readonly fault: Message };

/** The values that somebody submitted. What no field asks for is left out. */
export function readFields(fields: readonly FormField[], given: JsonObject): FormValues {
  const values: { [name: string]: JsonValue } = {};
  const faults: FieldFault[] = [];
  for (const field of fields) {
    const { name, type } = field;
    if (type === 'page') continue;
    const read = readField(field, own(given, name) ?? null);
    if ('fault' in read) faults.push({ name, message: read.fault });
    else setOwn(values, name, read.value);
  }
  return { values, faults };
}

function readField(field: FormField, given: JsonValue): Read {
  switch (field.type) {
    case 'file':
      return readFiles(field, given);
    case 'checkbox':
      return readCheckbox(field, given);
    case 'choices':
      return readChoices(field, given);
    default:
      return readText(field, given);
  }
}

const MISSING = message('form.required');
const EMPTY: Read = { value: null };

/** The only text that was given; null for none, or for something else. */
function textOf(given: JsonValue): string | null {
  const only = isJsonArray(given) && given.length === 1 ? (given[0] ?? null) : given;
  return typeof only === 'string' ? only : null;
}

/** Browsers send every line break as CR and LF (HTML, 4.10.21.4). */
export function withPlainBreaks(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n');
}

function readText(field: FormField, given: JsonValue): Read {
  if (given === null) return field.required ? { fault: MISSING } : EMPTY;
  const text = textOf(given)?.replaceAll('\r\n', '\n');
  if (text === undefined) return { fault: message('form.not_one_value') };
  if (text.trim() === '') return field.required ? { fault: MISSING } : EMPTY;
  if (text.length > MAX_TEXT) return { fault: message('form.too_long', { max: MAX_TEXT }) };
  switch (field.type) {
    case 'number':
      return readNumber(text);
    case 'email':
      return readAddress(text.trim());
    case 'date':
      return readDate(text.trim());
    case 'choice':
      return readChoice(field, text);
    default:
      return field.schema === undefined ? { value: text } : readJson(text, field.schema);
  }
}

function readChoice({ choices }: FormField, text: string): Read {
  const wanted = withPlainBreaks(text);
  const value = choices.find((choice) => withPlainBreaks(choice) === wanted);
  return value === undefined ? { fault: message('form.not_a_choice') } : { value };
}

function readJson(text: string, schema: JsonObject): Read {
  let value: JsonValue;
  try {
    value = parseJson(text) as JsonValue;
  } catch {
    return { fault: message('form.not_json') };
  }
  const [fault] = validateValue(schema, value);
  if (fault === undefined) return { value };
  return { fault: message('form.unfit_json', { at: fault.pointer, fault: fault.message }) };
}

/** Far more than any number that people enter. */
const MAX_DIGITS = 100;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** In wide digits, too, and with a sign; every digit is kept. */
function readNumber(text: string): Read {
  const plain = text
    .normalize('NFKC')
    .trim()
    .replace(/^\+/, '')
    .replace(/^(-?)0+(?=\d)/, '$1');
  if (plain.length > MAX_DIGITS || !NUMBER.test(plain)) return { fault: message('form.not_a_number') };
  return { value: parseJson(plain) as JsonValue };
}

/** Something before an @ and a host after it: whether mail arrives is only known when it does (RFC 5321, 4.5.3.1.3 limits the length). */
function readAddress(text: string): Read {
  const isAddress = text.length <= 254 && /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(text);
  return isAddress ? { value: text } : { fault: message('form.not_an_address') };
}

/** A day of the calendar, as browsers send it (RFC 3339, full-date). */
function readDate(text: string): Read {
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`));
  const isReal = isDate && new Date(`${text}T00:00:00Z`).toISOString().startsWith(text);
  return isReal ? { value: text } : { fault: message('form.not_a_date') };
}

function readCheckbox(field: FormField, given: JsonValue): Read {
  const isTicked = given !== null && given !== false && textOf(given) !== '';
  if (!isTicked && field.required) return { fault: message('form.not_ticked') };
  return { value: isTicked };
}

function readChoices(field: FormField, given: JsonValue): Read {
  const chosen = given === null ? [] : isJsonArray(given) ? given : [given];
  if (chosen.length === 0 && field.required) return { fault: MISSING };
  const taken = new Set(chosen.map((each) => (typeof each === 'string' ? withPlainBreaks(each) : each)));
  const known = new Set<JsonValue>(field.choices.map(withPlainBreaks));
  if (!taken.isSubsetOf(known)) return { fault: message('form.not_a_choice') };
  return { value: field.choices.filter((choice) => taken.has(withPlainBreaks(choice))) };
}

function readFiles(field: FormField, given: JsonValue): Read {
  const chosen = (isJsonArray(given) ? given : [given]).filter((each) => each !== null && each !== '');
  if (chosen.length === 0) {
    if (field.required) return { fault: message('form.no_file') };
    return { value: field.multiple ? [] : null };
  }
  const files = chosen.filter(isFileValue);
  if (files.length < chosen.length) return { fault: message('form.no_file') };
  const most = filesOf(field);
  if (files.length > most) return { fault: message('form.too_many_files', { max: most }) };
  const unfit = files.find((file) => !isAccepted(field.accept, file));
  if (unfit !== undefined)
    return { fault: message('form.wrong_file', { name: unfit.name, accept: field.accept }) };
  return { value: (field.multiple ? files : (files[0] ?? null)) as JsonValue };
}

/** How many files a field takes. */
export function filesOf({ multiple }: Pick<FormField, 'multiple'>): number {
  return multiple ? MAX_FILES_OF_FIELD : 1;
}

function isFileValue(value: JsonValue): value is FileValue {
  return fileIdOf(value) !== undefined;
}

/** As the attribute `accept` of HTML: extensions, media types, and `image/*`. */
export function isAccepted(accept: string, { name, type }: Pick<FileValue, 'name' | 'type'>): boolean {
  const wanted = accept
    .split(',')
    .map((each) => each.trim().toLowerCase())
    .filter(Boolean);
  if (wanted.length === 0) return true;
  const [plain = ''] = type.toLowerCase().split(';');
  return wanted.some((each) => {
    if (each.startsWith('.')) return name.toLowerCase().endsWith(each);
    return each.endsWith('/*') ? plain.startsWith(each.slice(0, -1)) : plain.trim() === each;
  });
}
