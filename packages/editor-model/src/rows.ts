import type { JsonValue } from '@millrace/engine';
import Papa from 'papaparse';

/** The rows of a table copied from a spreadsheet: objects if the first row has a name for each column, else lists. */
export function readTable(text: string): readonly JsonValue[] {
  const { data } = Papa.parse<string[]>(text, { delimiter: '\t', skipEmptyLines: 'greedy' });
  const [first = [], ...others] = data;
  const width = data.reduce((most, row) => Math.max(most, row.length), 0);
  const names = first.map((name) => name.trim());
  const isHeader =
    others.length > 0 &&
    names.length === width &&
    new Set(names).size === width &&
    names.every((name) => name !== '' && typeof readCell(name) === 'string');
  if (!isHeader) return data.map((row) => row.map(readCell));
  return others.map((row) => Object.fromEntries(names.map((name, at) => [name, readCell(row[at] ?? '')])));
}

/** A number or boolean if it is written as JSON writes it, so that 007 and 1.10 stay as they are. */
function readCell(cell: string): JsonValue {
  if (cell === '') return null;
  if (/^(true|false)$/i.test(cell)) return cell.toLowerCase() === 'true';
  const number = Number(cell);
  return Number.isFinite(number) && String(number) === cell ? number : cell;
}
