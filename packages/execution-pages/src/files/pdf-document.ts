import { getDocument, PasswordException, PDFWorker } from 'pdfjs-dist/legacy/build/pdf.mjs';
// The bundler makes the export.
// oxlint-disable-next-line import/default
import PdfThread from 'pdfjs-dist/legacy/build/pdf.worker.mjs?worker';

/** Pages that are drawn. */
export const MAX_PAGES = 10;
/** Pixels of a page: enough for a dialog on a screen with twice the density. */
const MAX_WIDTH = 1_200;
const MAX_HEIGHT = 4_000;
/** Pixels of a picture in a page; larger ones are left out. */
const MAX_PICTURE = 32_000_000;

/** The file can only be opened with a password. */
export class PdfPasswordError extends Error {
  override readonly name = 'PdfPasswordError';
}

/** Files that map the characters of older Asian fonts, by name. */
const CHARACTER_MAPS: Readonly<Record<string, string>> = import.meta.glob<string>(
  '../../../../node_modules/pdfjs-dist/cmaps/*.bcmap',
  { eager: true, query: '?url', import: 'default' },
);

class CharacterMaps {
  async fetch({ filename }: { readonly filename: string }): Promise<Uint8Array> {
    const [, address] = Object.entries(CHARACTER_MAPS).find(([path]) => path.endsWith(`/${filename}`)) ?? [];
    if (address === undefined) throw new Error(`there is no ${filename}`);
    return new Uint8Array(await (await fetch(address)).arrayBuffer());
  }
}

/**
 * Draws the first pages. The file is read in a worker of its own, which ends with the signal. Nothing of it is run, no font of it becomes
 * one of the page, and nothing is loaded but the service's own character maps.
 * @throws PdfPasswordError; what the library throws for a broken file
 */
export async function drawPages(
  bytes: Uint8Array,
  signal: AbortSignal,
  onPage: (canvas: HTMLCanvasElement, number: number, count: number) => void,
): Promise<void> {
  const thread = new PdfThread();
  const worker = PDFWorker.create({ port: thread });
  try {
    const loading = getDocument({
      // The library takes it away.
      data: bytes.slice(),
      worker,
      cMapUrl: 'maps/',
      BinaryDataFactory: CharacterMaps,
      useWorkerFetch: false,
      useWasm: false,
      useSystemFonts: false,
      disableFontFace: true,
      enableXfa: false,
      maxImageSize: MAX_PICTURE,
      verbosity: 0,
    });
    signal.addEventListener('abort', () => void loading.destroy());
    const pdf = await loading.promise;
    for (let number = 1; number <= Math.min(pdf.numPages, MAX_PAGES); number += 1) {
      signal.throwIfAborted();
      const page = await pdf.getPage(number);
      const { width, height } = page.getViewport({ scale: 1 });
      const viewport = page.getViewport({ scale: Math.min(MAX_WIDTH / width, MAX_HEIGHT / height) });
      const canvas = document.createElement('canvas');
      canvas.width = Math.ceil(viewport.width);
      canvas.height = Math.ceil(viewport.height);
      await page.render({ canvas, viewport }).promise;
      signal.throwIfAborted();
      onPage(canvas, number, pdf.numPages);
      page.cleanup();
    }
  } catch (error) {
    if (error instanceof PasswordException) throw new PdfPasswordError('', { cause: error });
    throw error;
  } finally {
    thread.terminate();
  }
}
