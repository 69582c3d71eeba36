import { type ContentTask, type JsonObject, stringifyJson } from '@millrace/engine';
import { message, verbatim } from '@millrace/messages';
import type { PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { DocumentFault } from '../documents/fault.ts';
import { type Host, UnservedError } from './host.ts';
import { BlockTooLargeError, CharacterMaps, loadPdfLibrary, withBoundedBlocks } from './pdf-library.ts';
import { readWhole } from './whole-file.ts';

/** The file is read as a whole. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_INFO = 1_000;
/** What a file says of itself, and how the result names it. */
const INFO = {
  Title: 'title',
  Author: 'author',
  Subject: 'subject',
  Keywords: 'keywords',
  Creator: 'creator',
  Producer: 'producer',
} as const;

type PdfTask = Extract<ContentTask, { kind: 'pdf_text' }>;

/** @throws DocumentFault invalid_data for what is no PDF file, broken or encrypted; document_too_complex, document_output_too_large */
export async function readPdfText(host: Host, task: PdfTask, maxOutputBytes: number): Promise<string> {
  const data = await readWhole(host, MAX_BYTES, message('ports.pdf_too_large', { max: MAX_BYTES }));
  const library = await loadPdfLibrary();
  try {
    return await withBoundedBlocks(async () => {
      const loading = library.getDocument({
        data,
        cMapUrl: 'maps/',
        BinaryDataFactory: CharacterMaps,
        useWorkerFetch: false,
        useWasm: false,
        useSystemFonts: false,
        disableFontFace: true,
        enableXfa: false,
        stopAtErrors: false,
        verbosity: 0,
      });
      try {
        return stringifyJson(await textOf(await loading.promise, task, maxOutputBytes));
      } finally {
        await loading.destroy();
      }
    });
  } catch (error) {
    throw faultOf(error, error instanceof library.PasswordException);
  }
}

async function textOf(
  pdf: PDFDocumentProxy,
  { skip, limit, output }: PdfTask,
  maxOutputBytes: number,
): Promise<JsonObject> {
  const last = Math.min(pdf.numPages, skip + limit);
  const pages: string[] = [];
  let length = 0;
  for (let number = skip + 1; number <= last; number += 1) {
    const text = await textOfPage(pdf, number);
    length += text.length;
    if (length > maxOutputBytes) {
      throw new DocumentFault(
        'document_output_too_large',
        message('ports.file_content_too_large', { max: maxOutputBytes }),
      );
    }
    pages.push(text);
  }
  const result = { page_count: pdf.numPages, has_more: last < pdf.numPages, info: await infoOf(pdf) };
  return output === 'pages' ? { ...result, pages } : { ...result, text: pages.join('\n\n') };
}

async function textOfPage(pdf: PDFDocumentProxy, number: number): Promise<string> {
  const page = await pdf.getPage(number);
  const { items } = await page.getTextContent();
  page.cleanup();
  const pieces = items.map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : ''));
  return pieces.join('').toWellFormed().replaceAll('\0', '').trimEnd();
}

async function infoOf(pdf: PDFDocumentProxy): Promise<JsonObject> {
  const { info } = await pdf.getMetadata();
  const said: { [name: string]: string } = {};
  for (const [given, name] of Object.entries(INFO)) {
    const value = (info as { readonly [name: string]: unknown })[given];
    if (typeof value === 'string' && value !== '') {
      said[name] = value.slice(0, MAX_INFO).toWellFormed().replaceAll('\0', '');
    }
  }
  return said;
}

function faultOf(error: unknown, isEncrypted: boolean): unknown {
  if (error instanceof UnservedError || error instanceof DocumentFault) return error;
  if (isEncrypted) return new DocumentFault('invalid_data', message('ports.pdf_encrypted'));
  if (error instanceof BlockTooLargeError) {
    return new DocumentFault('document_too_complex', message('ports.pdf_expands'));
  }
  // The library throws errors of many classes for broken files, and no others: the work itself can't fail.
  const reason = error instanceof Error ? error.message.replace(/\.$/, '').slice(0, 200) : String(error);
  return new DocumentFault('invalid_data', message('ports.pdf_broken', { reason: verbatim(reason) }));
}
