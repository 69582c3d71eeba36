import Papa from 'papaparse';

/** Encodings that spreadsheets write, by their name for `TextDecoder`. */
export const CSV_ENCODINGS = ['utf-8', 'shift_jis', 'euc-jp', 'utf-16le', 'windows-1252'] as const;
export type CsvEncoding = (typeof CSV_ENCODINGS)[number];

/** Bytes that show whether a file is UTF-8. */
const SAMPLE_BYTES = 256 * 1024;
/** Characters that the separator is recognised by. */
const SAMPLE_LENGTH = 16 * 1024;
/** A longer row is a quote that is never closed. */
const MAX_ROW_LENGTH = 4 * 1024 * 1024;

/** UTF-8 if its beginning is, Shift_JIS otherwise: that is what Japanese spreadsheets write. */
export async function guessEncoding(file: Blob): Promise<CsvEncoding> {
  const sample = new Uint8Array(await file.slice(0, SAMPLE_BYTES).arrayBuffer());
  if (sample[0] === 0xff && sample[1] === 0xfe) return 'utf-16le';
  try {
    // A character at the end may be incomplete.
    new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: true });
    return 'utf-8';
  } catch {
    return 'shift_jis';
  }
}

/** A row, with how much of the file had been read when it was found. */
export interface CsvRow {
  readonly cells: readonly string[];
  readonly readBytes: number;
}

/** A row that doesn't end. */
export class EndlessRowError extends Error {}

/**
 * The rows of a file, the header included, without empty ones. Only a piece of the file is held at a time.
 * @throws EndlessRowError
 */
export async function* readCsvRows(file: Blob, encoding: string): AsyncGenerator<CsvRow> {
  const decoder = new TextDecoder(encoding);
  const split = createSplitter();
  let readBytes = 0;
  for await (const bytes of piecesOf(file)) {
    readBytes += bytes.byteLength;
    for (const cells of split(decoder.decode(bytes, { stream: true }), false)) yield { cells, readBytes };
  }
  for (const cells of split(decoder.decode(), true)) yield { cells, readBytes };
}

async function* piecesOf(file: Blob): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}

/** Takes the text in pieces; the last row of each may continue in the next one. */
export function createSplitter(): (text: string, isLast: boolean) => readonly (readonly string[])[] {
  let rest = '';
  /** Found in the beginning of the file. */
  let form: { readonly delimiter: string; readonly newline: '\r' | '\n' | '\r\n' } | null = null;
  return (piece, isLast) => {
    const text = rest + piece;
    rest = '';
    if (text === '') return [];
    if (form === null && !isLast && text.length < SAMPLE_LENGTH) {
      rest = text;
      return [];
    }
    const rows: string[][] = [];
    let lastRowAt = 0;
    let readTo = 0;
    Papa.parse<string[]>(text, {
      ...form,
      // Otherwise the separator isn't recognised in a file of few rows.
      skipEmptyLines: true,
      step({ data, meta }) {
        rows.push(data);
        lastRowAt = readTo;
        readTo = meta.cursor;
        form ??= { delimiter: meta.delimiter, newline: meta.linebreak as '\n' };
      },
    });
    if (!isLast) {
      rows.pop();
      rest = text.slice(lastRowAt);
      if (rest.length > MAX_ROW_LENGTH) throw new EndlessRowError();
    }
    return rows.filter((row) => row.some((cell) => cell.trim() !== ''));
  };
}
