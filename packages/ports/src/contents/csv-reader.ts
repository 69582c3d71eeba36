import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { message } from '@millrace/messages';
import { CsvError, parse } from 'csv-parse';
import { DocumentFault } from '../documents/fault.ts';

/** Characters that the delimiter is recognised by. */
const SAMPLE_LENGTH = 16 * 1024;
const DELIMITERS = [',', ';', '\t', '|'];
/** A longer row is a quote that is never closed. */
const MAX_ROW_LENGTH = 4 * 1024 * 1024;
/** Rows that are passed on together. */
const BATCH = 500;

/**
 * The rows of a text with separated values, the header included, without empty ones.
 * @param delimiter empty: recognised by the first line
 * @throws DocumentFault invalid_data with the line
 */
export async function* readCsvRows(
  pieces: AsyncIterable<string>,
  delimiter: string,
): AsyncGenerator<readonly string[][]> {
  const { text, sample } = await withSample(pieces);
  const parser = parse({
    delimiter: delimiter === '' ? recognise(sample) : delimiter,
    bom: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: MAX_ROW_LENGTH,
  });
  // What goes wrong comes out of the parser.
  void pipeline(Readable.from(text), parser).catch(() => {});
  let batch: string[][] = [];
  try {
    for await (const row of parser as AsyncIterable<string[]>) {
      batch.push(row);
      if (batch.length < BATCH) continue;
      yield batch;
      batch = [];
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw broken(error, parser.info.lines);
  }
  if (batch.length > 0) yield batch;
}

function broken({ code }: CsvError, line: number): DocumentFault {
  const isEndless = code === 'CSV_QUOTE_NOT_CLOSED' || code === 'CSV_MAX_RECORD_SIZE';
  return new DocumentFault(
    'invalid_data',
    isEndless ? message('ports.csv_endless_row', { line }) : message('ports.csv_broken', { line }),
  );
}

async function withSample(
  pieces: AsyncIterable<string>,
): Promise<{ readonly text: AsyncIterable<string>; readonly sample: string }> {
  const iterator = pieces[Symbol.asyncIterator]();
  let sample = '';
  while (sample.length < SAMPLE_LENGTH) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    sample += value;
  }
  async function* whole(): AsyncGenerator<string> {
    if (sample !== '') yield sample;
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  return { text: whole(), sample };
}

/** The character that separates most cells of the first line. */
function recognise(sample: string): string {
  const [line = ''] = sample.replace(/"[^"]*(?:"|$)/g, '').split(/\r\n?|\n/);
  const counts = DELIMITERS.map((each) => line.split(each).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}
