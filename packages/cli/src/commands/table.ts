import { stripVTControlCharacters } from 'node:util';
import { harmless, paint } from './shell.ts';

/** One column of a table: its heading and the cell it shows of a row. */
export interface Column<Row> {
  readonly title: string;
  cell(row: Row): string;
  /** Numbers read better from the right. */
  readonly align?: 'left' | 'right';
}

/** Rows under aligned headings; `empty` when there are none. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], empty: string): string {
  if (rows.length === 0) return empty;
  const cells = rows.map((row) => columns.map((column) => oneLine(column.cell(row))));
  const widths = columns.map((column, index) =>
    Math.max(column.title.length, ...cells.map((line) => visibleWidth(line[index] ?? ''))),
  );
  const align = (texts: readonly string[]): string =>
    texts
      .map((text, index) => pad(text, widths[index] ?? 0, columns[index]?.align ?? 'left'))
      .join('  ')
      .trimEnd();
  const heading = paint('bold', align(columns.map((column) => column.title)));
  return [heading, ...cells.map(align)].join('\n');
}

/** Names and values of one thing, one under the other. */
export function card(fields: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${paint('dim', name.padEnd(width))}  ${oneLine(value)}`).join('\n');
}

/** A moment to the second, in UTC; `-` for none. */
export function moment(value: Date | string | null | undefined): string {
  if (value === null || value === undefined) return '-';
  return `${new Date(value).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}

function pad(text: string, width: number, align: 'left' | 'right'): string {
  const space = ' '.repeat(Math.max(0, width - visibleWidth(text)));
  return align === 'left' ? text + space : space + text;
}

function oneLine(text: string): string {
  return harmless(text).replaceAll('\n', ' ');
}

/** Columns a text takes in a terminal: colour codes and marks take none, wide characters take two. */
function visibleWidth(text: string): number {
  let width = 0;
  for (const character of stripVTControlCharacters(text)) {
    width += NO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  }
  return width;
}

const NO_WIDTH = /\p{Mark}|\p{Format}/u;
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}]/u;
