import { Readable } from 'node:stream';
import { message } from '@millrace/messages';
import { ZipFile } from 'yazl';
import { DocumentFault } from '../documents/fault.ts';
import type { OutCell } from './out-cells.ts';

/** As Excel's. */
const MAX_ROWS = 1_048_576;
const MAX_COLUMNS = 16_384;
const MAX_CELL_LENGTH = 32_767;
/** Excel keeps no more; longer numbers are written as text, so that nothing is lost. */
const MAX_DIGITS = 15;
/** The same rows make the same file. */
const MTIME = new Date(1980, 0, 1);

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATION = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/**
 * A workbook with one sheet. Every text is one: nothing in it becomes a formula.
 * @throws DocumentFault while it is read, for what no workbook can contain
 */
export async function* writeXlsx(
  rows: AsyncIterable<readonly (readonly OutCell[])[]>,
  sheetName: string,
): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  const options = { mtime: MTIME, forceDosTimestamp: true };
  const sheet = Readable.from(sheetXml(rows), { objectMode: false });
  zip.on('error', (error: Error) => output.destroy(error));
  sheet.on('error', (error) => output.destroy(error));
  for (const [path, content] of partsFor(sheetName))
    zip.addBuffer(Buffer.from(HEAD + content), path, options);
  zip.addReadStream(sheet, 'xl/worksheets/sheet1.xml', options);
  zip.end();
  try {
    yield* output as AsyncIterable<Uint8Array>;
  } finally {
    sheet.destroy();
  }
}

function partsFor(sheetName: string): readonly (readonly [path: string, content: string])[] {
  const relation = (type: string, target: string) =>
    `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATION}/${type}" Target="${target}"/></Relationships>`;
  return [
    [
      '[Content_Types].xml',
      `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
        `<Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPE}.sheet.main+xml"/>` +
        `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${TYPE}.worksheet+xml"/></Types>`,
    ],
    ['_rels/.rels', relation('officeDocument', 'xl/workbook.xml')],
    ['xl/_rels/workbook.xml.rels', relation('worksheet', 'worksheets/sheet1.xml')],
    [
      'xl/workbook.xml',
      `<workbook xmlns="${MAIN}" xmlns:r="${RELATION}"><sheets><sheet name="${escapedXml(sheetName)}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    ],
  ];
}

async function* sheetXml(rows: AsyncIterable<readonly (readonly OutCell[])[]>): AsyncGenerator<string> {
  yield `${HEAD}<worksheet xmlns="${MAIN}"><sheetData>`;
  let count = 0;
  for await (const batch of rows) {
    count += batch.length;
    if (count > MAX_ROWS) {
      throw new DocumentFault('invalid_data', message('ports.xlsx_too_many_rows', { max: MAX_ROWS }));
    }
    const first = count - batch.length + 1;
    yield batch.map((cells, index) => rowXml(cells, first + index)).join('');
  }
  yield '</sheetData></worksheet>';
}

function rowXml(cells: readonly OutCell[], row: number): string {
  if (cells.length > MAX_COLUMNS) {
    throw new DocumentFault('invalid_data', message('ports.too_many_columns', { max: MAX_COLUMNS }));
  }
  return `<row r="${row}">${cells.map((cell) => cellXml(cell, row)).join('')}</row>`;
}

function cellXml(cell: OutCell, row: number): string {
  if (cell.kind === 'empty') return '<c/>';
  if (cell.kind === 'boolean') return `<c t="b"><v>${cell.text === 'true' ? 1 : 0}</v></c>`;
  if (cell.kind === 'number' && digitsOf(cell.text) <= MAX_DIGITS) return `<c><v>${cell.text}</v></c>`;
  if (cell.text.length > MAX_CELL_LENGTH) {
    throw new DocumentFault(
      'invalid_data',
      message('ports.xlsx_cell_too_long', { row, max: MAX_CELL_LENGTH }),
    );
  }
  return `<c t="inlineStr"><is><t xml:space="preserve">${escapedXml(cell.text)}</t></is></c>`;
}

function digitsOf(number: string): number {
  return number.replace(/e.*$/i, '').replace(/\D/g, '').replace(/^0+/, '').length;
}

const ESCAPES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function escapedXml(text: string): string {
  return text
    .replace(/_(?=x[\dA-Fa-f]{4}_)/g, '_x005F_')
    .replace(/[&<>"]/g, (character) => ESCAPES[character] ?? '')
    .replace(/(?![\t\n])\p{Cc}|[\ufffe\uffff]|\p{Surrogate}/gu, (character) => {
      return `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`;
    });
}
