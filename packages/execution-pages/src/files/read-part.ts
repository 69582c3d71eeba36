import { type JsonValue, tryParseJson } from '@millrace/engine';
import Papa from 'papaparse';

/** Rows, columns and characters of a cell that are shown of a table. */
const MAX_ROWS = 200;
const MAX_COLUMNS = 50;
const MAX_CELL = 500;

/** The beginning of a table. */
export interface TablePart {
  readonly names: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Whether the file has more rows or columns. */
  readonly hasMore: boolean;
}

/** As the service reads it: UTF-16 with a mark, UTF-8, else Shift_JIS. @param isCut whether a character at the end may be incomplete */
export function decodeText(bytes: Uint8Array, isCut: boolean): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut });
  } catch {
    return new TextDecoder('shift_jis').decode(bytes, { stream: isCut });
  }
}

/** @param isCut whether the text ends in the middle of a row */
export function readTable(text: string, isCut: boolean): TablePart {
  const { data, meta } = Papa.parse<string[]>(text, { preview: MAX_ROWS + 2, skipEmptyLines: 'greedy' });
  const isComplete = !isCut && !meta.truncated;
  const [names = [], ...rows] = isComplete || data.length < 2 ? data : data.slice(0, -1);
  const shown = rows.slice(0, MAX_ROWS);
  const width = shown.reduce((most, row) => Math.max(most, row.length), names.length);
  const columns = Math.min(width, MAX_COLUMNS);
  const fit = (row: readonly string[]) =>
    Array.from({ length: columns }, (_, at) => shortened(row[at] ?? ''));
  return {
    names: fit(names),
    rows: shown.map(fit),
    hasMore: !isComplete || rows.length > MAX_ROWS || width > MAX_COLUMNS,
  };
}

function shortened(cell: string): string {
  return cell.length > MAX_CELL ? `${cell.slice(0, MAX_CELL)}…` : cell;
}

/** The values of the first lines; a line that isn't JSON is shown as text. */
export function readLines(
  text: string,
  isCut: boolean,
): { readonly values: JsonValue[]; readonly hasMore: boolean } {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const whole = isCut ? lines.slice(0, -1) : lines;
  const values = whole.slice(0, MAX_ROWS).map((line) => tryParseJson(line) ?? line);
  return { values, hasMore: isCut || lines.length > MAX_ROWS };
}
