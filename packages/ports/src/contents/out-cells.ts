import { isJsonArray, isNumber, type JsonValue, stringifyJson } from '@millrace/engine';

/** A cell to write. `text`: as it is shown, the digits of a number included. */
export interface OutCell {
  readonly kind: 'empty' | 'text' | 'number' | 'boolean';
  readonly text: string;
}

const EMPTY: OutCell = { kind: 'empty', text: '' };

/** What a value looks like in a table: lists and objects are JSON. */
export function outCell(value: JsonValue | undefined): OutCell {
  if (value === undefined || value === null || value === '') return EMPTY;
  if (typeof value === 'string') return { kind: 'text', text: value };
  if (typeof value === 'boolean') return { kind: 'boolean', text: String(value) };
  return { kind: isNumber(value) && !isJsonArray(value) ? 'number' : 'text', text: stringifyJson(value) };
}

/** What spreadsheets take for the beginning of a formula (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t\r\uff0b\uff0d\uff1d\uff20]/;
const NUMBER = /^[+-]?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?%?$/i;

/** One line of a text with separated values. */
export function csvLine(
  cells: readonly OutCell[],
  { delimiter, formulas }: { readonly delimiter: string; readonly formulas: boolean },
): string {
  const texts = cells.map(({ kind, text }) => {
    const isFormula = kind === 'text' && !formulas && FORMULA.test(text) && !NUMBER.test(text);
    return quoted(isFormula ? `'${text}` : text, delimiter);
  });
  // A row with one empty cell would otherwise be an empty line, which is no row.
  return `${texts.length === 1 && texts[0] === '' ? '""' : texts.join(delimiter)}\r\n`;
}

function quoted(text: string, delimiter: string): string {
  const needsQuotes = /["\r\n]|^\s|\s$/.test(text) || text.includes(delimiter);
  return needsQuotes ? `"${text.replaceAll('"', '""')}"` : text;
}
