import { deflateSync } from 'node:zlib';

/** What a PDF file made by {@link pdfFile} has besides its pages. */
export interface PdfParts {
  readonly title?: string;
  /** What describes the font, instead of plain Helvetica. */
  readonly font?: string;
  /** Further objects, from number 5 on. */
  readonly objects?: readonly string[];
  /** Added to the trailer. */
  readonly trailer?: string;
  readonly isCompressed?: boolean;
}

/** A PDF file with these texts, a page each. A text in angle brackets is written as it is: bytes in hexadecimal. */
export function pdfFile(pages: readonly string[], parts: PdfParts = {}): Buffer {
  const { title, font, objects = [], trailer = '', isCompressed = false } = parts;
  const first = 5 + objects.length;
  const kids = pages.map((_, at) => `${first + at * 2} 0 R`).join(' ');
  const info = title === undefined ? '' : `/Title (${title})`;
  const all: (string | Buffer)[] = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${kids}] >>`,
    font ?? '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    `<< ${info} >>`,
    ...objects,
    ...pages.flatMap((text, at) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Resources << /Font << /F1 3 0 R >> >> /Contents ${first + at * 2 + 1} 0 R >>`,
      stream(contentOf(text), isCompressed),
    ]),
  ];
  const pieces: Buffer[] = [Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1')];
  const offsets = all.map((object, at) => {
    const offset = pieces.reduce((sum, { length }) => sum + length, 0);
    pieces.push(Buffer.from(`${at + 1} 0 obj\n`), Buffer.from(object), Buffer.from('\nendobj\n'));
    return offset;
  });
  const start = pieces.reduce((sum, { length }) => sum + length, 0);
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  pieces.push(
    Buffer.from(
      `xref\n0 ${all.length + 1}\n0000000000 65535 f \n${rows}trailer << /Size ${all.length + 1} /Root 1 0 R /Info 4 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(pieces);
}

/** Lines below each other. */
function contentOf(text: string): Buffer {
  const lines = text.split('\n').map((line) => {
    const shown = line.startsWith('<') ? line : `(${line.replace(/[\\()]/g, '\\$&')})`;
    return `${shown} Tj 0 -16 Td`;
  });
  return Buffer.from(`BT /F1 12 Tf 20 270 Td ${lines.join(' ')} ET`, 'latin1');
}

function stream(content: Buffer, isCompressed: boolean): Buffer {
  return isCompressed ? pdfStream(deflateSync(content), '/Filter /FlateDecode') : pdfStream(content, '');
}

/** An object with a stream of bytes. */
export function pdfStream(content: Buffer, entries: string): Buffer {
  return Buffer.concat([
    Buffer.from(`<< /Length ${content.length} ${entries} >>\nstream\n`),
    content,
    Buffer.from('\nendstream'),
  ]);
}
