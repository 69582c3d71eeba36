import { type TableForm, tryParseJson } from '@millrace/engine';
import { message } from '@millrace/messages';
import { DocumentFault } from '../documents/fault.ts';
import { type Cell, columnNames, createRowWriter } from './cells.ts';
import { readCsvRows } from './csv-reader.ts';
import type { Host } from './host.ts';
import { decodedText } from './text.ts';

/** The rows of a file. */
export interface TableRows {
  /** Of the header; null without one. Known once the first rows are. */
  readonly columns: readonly string[] | null;
  /** Only of a workbook. */
  readonly sheet?: { readonly name: string; readonly all: readonly string[] };
  /** The JSON text of each row. */
  readonly rows: AsyncGenerator<readonly string[]>;
}

/** A longer line of JSON lines is none. */
const MAX_LINE_LENGTH = 4 * 1024 * 1024;

/**
 * Begins to read the rows of a file.
 * @throws DocumentFault, also while they are read
 */
export async function openRows(host: Host, input: number, form: TableForm): Promise<TableRows> {
  switch (form.format) {
    case 'csv':
      return withHeader(readCsvRows(decodedText(host, input, form.encoding), form.delimiter), form.header);
    case 'xlsx': {
      const { openSheet } = await import('./xlsx-reader.ts');
      const { name, names, rows } = await openSheet(host, input, form.sheet);
      return { ...(await withHeader(rows, form.header)), sheet: { name, all: names } };
    }
    case 'jsonl':
      return { columns: null, rows: readJsonLines(decodedText(host, input, form.encoding)) };
    case 'ical': {
      const { readEvents } = await import('./ical-reader.ts');
      return { columns: null, rows: readEvents(decodedText(host, input, form.encoding)) };
    }
  }
}

async function withHeader(
  batches: AsyncGenerator<readonly (readonly Cell[])[]>,
  hasHeader: boolean,
): Promise<TableRows> {
  const first = await batches.next();
  const [header, ...rest] = first.done === true ? [] : first.value;
  const columns = hasHeader ? columnNames(header ?? []) : null;
  const write = createRowWriter(columns);
  async function* rows(): AsyncGenerator<readonly string[]> {
    try {
      const begun = hasHeader || header === undefined ? rest : [header, ...rest];
      if (begun.length > 0) yield begun.map(write);
      for await (const batch of batches) yield batch.map(write);
    } finally {
      await batches.return(undefined);
    }
  }
  return { columns, rows: rows() };
}

async function* readJsonLines(pieces: AsyncIterable<string>): AsyncGenerator<readonly string[]> {
  let rest = '';
  let line = 0;
  const checked = (text: string): string[] => {
    line += 1;
    if (text.trim() === '') return [];
    if (text.length > MAX_LINE_LENGTH || tryParseJson(text) === undefined) {
      throw new DocumentFault('invalid_data', message('ports.line_not_json', { line }));
    }
    return [text.trim()];
  };
  for await (const piece of pieces) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE_LENGTH) {
      throw new DocumentFault(
        'invalid_data',
        message('ports.line_not_json', { line: line + lines.length + 1 }),
      );
    }
    const rows = lines.flatMap(checked);
    if (rows.length > 0) yield rows;
  }
  const last = checked(rest);
  if (last.length > 0) yield last;
}
