import {
  type ContentTask,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type NewTable,
  parseJson,
  stringifyJson,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { DocumentFault } from '../documents/fault.ts';
import type { Host } from './host.ts';
import { writeCalendar } from './ical-writer.ts';
import { csvLine, type OutCell, outCell } from './out-cells.ts';
import { openRows } from './rows.ts';
import { writeXlsx } from './xlsx-writer.ts';

type WriteRows = Extract<ContentTask, { kind: 'write_rows' }>;

/** Rows whose members become the columns. */
const SAMPLE_ROWS = 1_000;
const BATCH = 500;

/**
 * Makes a file of rows: first those given, then those of the inputs. Holds as many as are needed to know the columns.
 * @throws DocumentFault invalid_data for a row that doesn't fit
 */
export async function writeRows(host: Host, task: WriteRows): Promise<string> {
  const { table } = task;
  let count = 0;
  async function* counted(): AsyncGenerator<readonly JsonValue[]> {
    for await (const batch of allRows(host, task)) {
      count += batch.length;
      yield batch;
    }
  }
  const file = await host.save({ name: table.name, type: table.type }, encoded(counted(), table));
  return stringifyJson({ file, count });
}

async function* allRows(host: Host, { rows, forms }: WriteRows): AsyncGenerator<readonly JsonValue[]> {
  const given = parseJson(rows);
  if (!isJsonArray(given)) throw new DocumentFault('invalid_config', message('ports.rows_not_list'));
  for (let at = 0; at < given.length; at += BATCH) yield given.slice(at, at + BATCH);
  for (const [input, form] of forms.entries()) {
    const { rows: batches } = await openRows(host, input, form);
    for await (const batch of batches) yield batch.map((text) => parseJson(text));
  }
}

async function* encoded(
  rows: AsyncGenerator<readonly JsonValue[]>,
  table: NewTable,
): AsyncGenerator<Uint8Array> {
  switch (table.format) {
    case 'jsonl':
      for await (const batch of rows) {
        yield Buffer.from(batch.map((row) => `${stringifyJson(row)}\n`).join(''));
      }
      return;
    case 'json':
      yield* jsonList(rows);
      return;
    case 'csv':
      if (table.mark) yield Buffer.from('\uFEFF');
      for await (const batch of cellsOf(rows, table)) {
        yield Buffer.from(batch.map((cells) => csvLine(cells, table)).join(''));
      }
      return;
    case 'xlsx':
      yield* writeXlsx(cellsOf(rows, table), table.sheet);
      return;
    case 'ical':
      yield* writeCalendar(rows, new Date());
  }
}

async function* jsonList(rows: AsyncIterable<readonly JsonValue[]>): AsyncGenerator<Uint8Array> {
  let separator = '[\n';
  for await (const batch of rows) {
    const lines = batch.map((row) => {
      const line = separator + stringifyJson(row);
      separator = ',\n';
      return line;
    });
    yield Buffer.from(lines.join(''));
  }
  yield Buffer.from(separator === '[\n' ? '[]\n' : '\n]\n');
}

/** The rows as cells, with a header if there is one. Rows are all objects or all lists. */
async function* cellsOf(
  rows: AsyncGenerator<readonly JsonValue[]>,
  { columns: given, header }: NewTable,
): AsyncGenerator<readonly OutCell[][]> {
  const sample: JsonValue[] = [];
  while (sample.length < SAMPLE_ROWS) {
    const { done, value } = await rows.next();
    if (done === true) break;
    sample.push(...value);
  }
  const columns = given.length > 0 ? given : membersOf(sample);
  const known = new Set(columns);
  let number = 0;
  const toCells = (row: JsonValue): OutCell[] => {
    number += 1;
    if (isJsonArray(row) && given.length === 0 && columns.length === 0) return row.map(outCell);
    if (!isJsonObject(row)) throw mixed(number);
    if (given.length === 0) requireKnown(row, known, number);
    return columns.map((name) => outCell(Object.hasOwn(row, name) ? row[name] : null));
  };
  if (header && columns.length > 0) yield [columns.map(outCell)];
  yield sample.map(toCells);
  for await (const batch of rows) yield batch.map(toCells);
}

/** The members of all rows, in the order in which they first appear. */
function membersOf(rows: readonly JsonValue[]): string[] {
  return [...new Set(rows.filter(isJsonObject).flatMap((row) => Object.keys(row)))];
}

/** Leaving a value out because its column wasn't known in time would be silent loss. */
function requireKnown(row: JsonObject, known: ReadonlySet<string>, number: number): void {
  const unknown = Object.keys(row).find((name) => !known.has(name));
  if (unknown === undefined) return;
  throw new DocumentFault(
    'invalid_data',
    message('ports.late_column', { row: number, name: unknown, sample: SAMPLE_ROWS }),
  );
}

function mixed(row: number): DocumentFault {
  return new DocumentFault('invalid_data', message('ports.row_not_object', { row }));
}
