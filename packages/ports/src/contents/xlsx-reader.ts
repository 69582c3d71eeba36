import { posix } from 'node:path';
import { message } from '@millrace/messages';
import type { Entry } from 'yauzl';
import { DocumentFault } from '../documents/fault.ts';
import type { Cell } from './cells.ts';
import type { Host } from './host.ts';
import { dateFormats, isoOf } from './xlsx-dates.ts';
import { readXml, type XmlEvents } from './xml-events.ts';
import { type Archive, openArchive } from './zip-reader.ts';

/** Bytes of a decompressed part: a sheet of a million rows has some hundred MiB. */
const MAX_PART_BYTES = 2 * 1024 * 1024 * 1024;
/** Of a workbook's shared strings, which are all held at once. */
const MAX_STRINGS = 2_000_000;
const MAX_STRINGS_LENGTH = 32 * 1024 * 1024;
const MAX_CELL_LENGTH = 1024 * 1024;
/** As in Excel. */
const MAX_COLUMNS = 16_384;

export interface Sheet {
  readonly name: string;
  /** Of all sheets. */
  readonly names: readonly string[];
  /** Without empty rows. */
  readonly rows: AsyncGenerator<readonly Cell[][]>;
}

/**
 * One sheet of a workbook (Office Open XML). Cells are texts, numbers and booleans; dates become ISO 8601, and formulas their last result.
 * @param wanted a sheet's name; empty: the first one
 * @throws DocumentFault invalid_data, document_too_complex; also while rows are read
 */
export async function openSheet(host: Host, input: number, wanted: string): Promise<Sheet> {
  const archive = await openArchive(host, input);
  const part = partsOf(archive);
  const book = await readBook(part);
  const names = book.sheets.map(({ name }) => name);
  const sheet = wanted === '' ? book.sheets[0] : book.sheets.find(({ name }) => name === wanted);
  if (sheet === undefined) {
    throw new DocumentFault(
      'invalid_data',
      message('ports.no_sheet', { name: wanted, names: names.join(', ') }),
    );
  }
  const strings = await readStrings(part);
  const dates = await readDates(part);
  const content = part(sheet.path);
  if (content === null) throw notWorkbook();
  const rows = readSheet(content, { strings, dates, is1904: book.is1904 });
  return { name: sheet.name, names, rows };
}

/** The content of a part by its name; null if there is none. */
type Parts = (name: string) => AsyncGenerator<Uint8Array> | null;

function partsOf({ entries, read }: Archive): Parts {
  const byName = new Map<string, Entry>(entries.map((entry) => [entry.fileName, entry]));
  return (name) => {
    const entry = byName.get(name);
    if (entry === undefined) return null;
    if (entry.uncompressedSize <= MAX_PART_BYTES) return read(entry);
    throw new DocumentFault('document_too_complex', message('ports.zip_too_large', { max: MAX_PART_BYTES }));
  };
}

interface Book {
  readonly sheets: readonly { readonly name: string; readonly path: string }[];
  /** Days are counted from 1904 instead of 1900. */
  readonly is1904: boolean;
}

async function readBook(part: Parts): Promise<Book> {
  const path = (await readRelations(part, '_rels/.rels', '')).byType.get('officeDocument');
  const content = path === undefined ? null : part(path);
  if (path === undefined || content === null) throw notWorkbook();
  const folder = posix.dirname(path);
  const { byId } = await readRelations(part, `${folder}/_rels/${posix.basename(path)}.rels`, folder);
  const sheets: { name: string; path: string }[] = [];
  let is1904 = false;
  await readAll(content, {
    open(name, attributes) {
      if (name === 'workbookPr') is1904 = /^(?:1|true)$/.test(attributes.date1904 ?? '');
      if (name !== 'sheet') return;
      const id = Object.entries(attributes).find(([each]) => each.endsWith(':id'))?.[1] ?? '';
      sheets.push({ name: attributes.name ?? '', path: byId.get(id) ?? '' });
    },
  });
  if (sheets.length === 0) throw notWorkbook();
  return { sheets, is1904 };
}

async function readRelations(
  part: Parts,
  name: string,
  folder: string,
): Promise<{ readonly byId: ReadonlyMap<string, string>; readonly byType: ReadonlyMap<string, string> }> {
  const byId = new Map<string, string>();
  const byType = new Map<string, string>();
  await readAll(part(name) ?? nothing(), {
    open(element, { Id: id = '', Type: type = '', Target: target = '' }) {
      if (element !== 'Relationship') return;
      const path = target.startsWith('/') ? target.slice(1) : posix.join(folder, target);
      byId.set(id, path);
      byType.set(type.slice(type.lastIndexOf('/') + 1), path);
    },
  });
  return { byId, byType };
}

async function readStrings(part: Parts): Promise<readonly string[]> {
  const strings: string[] = [];
  const text = createTextReader();
  let length = 0;
  await readAll(part('xl/sharedStrings.xml') ?? nothing(), {
    open: (name) => text.open(name),
    text: (piece) => text.add(piece),
    close(name) {
      text.close(name);
      if (name !== 'si') return;
      const string = text.take();
      strings.push(string);
      length += string.length;
      if (strings.length > MAX_STRINGS || length > MAX_STRINGS_LENGTH) {
        throw new DocumentFault('document_too_complex', message('ports.workbook_too_many_texts'));
      }
    },
  });
  return strings;
}

/** Which formats of cells are dates, by their number. */
async function readDates(part: Parts): Promise<readonly boolean[]> {
  const codes = new Map<number, string>();
  const formats: number[] = [];
  let isInCells = false;
  await readAll(part('xl/styles.xml') ?? nothing(), {
    open(name, attributes) {
      if (name === 'numFmt') codes.set(Number(attributes.numFmtId), attributes.formatCode ?? '');
      if (name === 'cellXfs') isInCells = true;
      if (name === 'xf' && isInCells) formats.push(Number(attributes.numFmtId ?? 0));
    },
    close(name) {
      if (name === 'cellXfs') isInCells = false;
    },
  });
  return formats.map(dateFormats(codes));
}

interface SheetContext {
  readonly strings: readonly string[];
  readonly dates: readonly boolean[];
  readonly is1904: boolean;
}

async function* readSheet(
  content: AsyncIterable<Uint8Array>,
  context: SheetContext,
): AsyncGenerator<readonly Cell[][]> {
  let found: Cell[][] = [];
  const reader = createSheetReader(context, (row) => found.push(row));
  const pieces = readXml(content, reader);
  while ((await pieces.next()).done !== true) {
    if (found.length === 0) continue;
    const batch = found;
    found = [];
    yield batch;
  }
}

function createSheetReader(context: SheetContext, onRow: (row: Cell[]) => void): XmlEvents {
  let row: Cell[] = [];
  let column = -1;
  let type = '';
  let isDate = false;
  let value = '';
  let isInValue = false;
  const text = createTextReader();
  return {
    open(name, attributes) {
      text.open(name);
      if (name === 'row') {
        row = [];
        column = -1;
      } else if (name === 'c') {
        column = attributes.r === undefined ? column + 1 : columnOf(attributes.r);
        if (column >= MAX_COLUMNS) throw tooWide();
        type = attributes.t ?? 'n';
        isDate = context.dates[Number(attributes.s ?? 0)] ?? false;
        value = '';
      } else if (name === 'v') {
        isInValue = true;
      }
    },
    text(piece) {
      if (isInValue) value += piece;
      else text.add(piece);
      if (value.length > MAX_CELL_LENGTH) throw cellTooLong();
    },
    close(name) {
      text.close(name);
      if (name === 'v') {
        isInValue = false;
      } else if (name === 'c') {
        const inline = text.take();
        const cell = cellOf(type, type === 'inlineStr' ? inline : value, isDate, context);
        if (cell === null) return;
        while (row.length < column) row.push(null);
        row[column] = cell;
      } else if (name === 'row' && row.length > 0) {
        onRow(row);
      }
    },
  };
}

function cellOf(type: string, value: string, isDate: boolean, { strings, is1904 }: SheetContext): Cell {
  switch (type) {
    case 's':
      return strings[Number(value)] ?? null;
    case 'b':
      return value.trim() === '1';
    case 'inlineStr':
      return value === '' ? null : value;
    case 'str':
    case 'e':
    case 'd':
      return value === '' ? null : unescaped(value);
    default: {
      const number = value.trim() === '' ? Number.NaN : Number(value);
      if (!Number.isFinite(number)) return value === '' ? null : value;
      return isDate ? isoOf(number, is1904) : number;
    }
  }
}

/** Collects what is between `t`, but not the readings above Japanese text. */
function createTextReader(): {
  open(name: string): void;
  add(piece: string): void;
  close(name: string): void;
  /** What was collected; begins again. */
  take(): string;
} {
  let collected = '';
  let isText = false;
  let isReading = false;
  return {
    open(name) {
      if (name === 'rPh') isReading = true;
      isText = name === 't';
    },
    add(piece) {
      if (!isText || isReading) return;
      collected += piece;
      if (collected.length > MAX_CELL_LENGTH) throw cellTooLong();
    },
    close(name) {
      if (name === 'rPh') isReading = false;
      isText = false;
    },
    take() {
      const whole = unescaped(collected);
      collected = '';
      return whole;
    },
  };
}

/** Characters that XML can't contain are written as _x0001_. */
function unescaped(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([\dA-Fa-f]{4})_/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

/** BC12 is the column 54, counted from 0. */
function columnOf(reference: string): number {
  let column = 0;
  for (const letter of /^[A-Z]{1,4}/i.exec(reference)?.[0].toUpperCase() ?? '') {
    column = column * 26 + letter.charCodeAt(0) - 64;
  }
  return column - 1;
}

async function readAll(content: AsyncIterable<Uint8Array>, events: XmlEvents): Promise<void> {
  const pieces = readXml(content, events);
  while ((await pieces.next()).done !== true);
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('<none/>');
}

function notWorkbook(): DocumentFault {
  return new DocumentFault('invalid_data', message('ports.not_a_workbook'));
}

function tooWide(): DocumentFault {
  return new DocumentFault('document_too_complex', message('ports.too_many_columns', { max: MAX_COLUMNS }));
}

function cellTooLong(): DocumentFault {
  return new DocumentFault('document_too_complex', message('ports.cell_too_long', { max: MAX_CELL_LENGTH }));
}
