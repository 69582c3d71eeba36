import stringWidth from 'fast-string-width';
import { harmless, paint } from './shell.ts';

/** One column of a table: its heading and its cell for a row. */
export interface Column<Row> {
  readonly title: string;
  cell(row: Row): string;
  /** Numbers are easier to read right-aligned. */
  readonly align?: 'right';
}

/** Rows under aligned headings; `empty` if there are none. */
export function table<Row>(
  rows: readonly Row[],
  columns: readonly Column<NoInfer<Row>>[],
  empty: string,
): string {
  if (rows.length === 0) return empty;
  const cells = rows.map((row) => columns.map((column) => oneLine(column.cell(row))));
  const widths = columns.map((column, index) =>
    Math.max(column.title.length, ...cells.map((line) => stringWidth(line[index] ?? ''))),
  );
  const align = (texts: readonly string[]): string =>
    texts
      .map((text, index) => pad(text, widths[index] ?? 0, columns[index]?.align === 'right'))
      .join('  ')
      .trimEnd();
  const heading = paint('bold', align(columns.map((column) => column.title)));
  return [heading, ...cells.map(align)].join('\n');
}

/** Names and values of one item, one per line. */
export function card(fields: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${paint('dim', name.padEnd(width))}  ${oneLine(value)}`).join('\n');
}

/** A moment to the second, in UTC; `-` for none. */
export function moment(value: Date | string | null | undefined): string {
  if (value === null || value === undefined) return '-';
  return `${new Date(value).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}

function pad(text: string, width: number, isRight: boolean): string {
  const space = ' '.repeat(Math.max(0, width - stringWidth(text)));
  return isRight ? space + text : text + space;
}

function oneLine(text: string): string {
  return harmless(text).replaceAll('\n', ' ');
}
