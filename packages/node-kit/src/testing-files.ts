import { createHash } from 'node:crypto';
import {
  type ContentService,
  type FileService,
  type FileValue,
  fileIdOf,
  isJsonObject,
  parseJson,
  ServiceError,
} from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import type { Host } from '@millrace/ports/contents/host';
import { workOnContents } from '@millrace/ports/contents/run';
import { DocumentFault } from '@millrace/ports/documents/fault';

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

interface StoredFile {
  readonly name: string;
  readonly type: string;
  readonly content: Buffer;
}

const idOf = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** The files that the examples of nodes read. */
const EXAMPLES: readonly (readonly [id: string, file: StoredFile])[] = [
  [
    idOf(1),
    {
      name: 'orders.csv',
      type: 'text/csv',
      content: Buffer.from('id,customer\n17,Ada\n18,"Bo; Co"\n19,Cy\n'),
    },
  ],
  [
    idOf(3),
    {
      name: 'orders.zip',
      type: 'application/zip',
      // orders/july.csv and read me.txt, not compressed.
      content: Buffer.from(
        'UEsDBBQAAAAAAAAAIQBVCE3IBgAAAAYAAAAPAAAAb3JkZXJzL2p1bHkuY3N2aWQKMTcKUEsDBBQAAAAAAAAAIQCCidH3BQAAAAUA' +
          'AAALAAAAcmVhZCBtZS50eHRIZWxsb1BLAQIUAxQAAAAAAAAAIQBVCE3IBgAAAAYAAAAPAAAAAAAAAAAAAACAAQAAAABvcmRlcnMv' +
          'anVseS5jc3ZQSwECFAMUAAAAAAAAACEAgonR9wUAAAAFAAAACwAAAAAAAAAAAAAAgAEzAAAAcmVhZCBtZS50eHRQSwUGAAAAAAIA' +
          'AgB2AAAAYQAAAAAA',
        'base64',
      ),
    },
  ],
  [
    idOf(4),
    {
      name: 'invoice.pdf',
      type: 'application/pdf',
      content: Buffer.from(
        [
          '%PDF-1.7',
          '1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj',
          '2 0 obj << /Type /Pages /Count 1 /Kids [3 0 R] >> endobj',
          '3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] /Resources << /Font << /F1 4 0 R >> >> /Contents 5 0 R >> endobj',
          '4 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> endobj',
          '5 0 obj << /Length 43 >>\nstream\nBT /F1 12 Tf 20 50 Td (Total: 42.00) Tj ET \nendstream endobj',
          '6 0 obj << /Title (Invoice 17) >> endobj',
          'trailer << /Root 1 0 R /Info 6 0 R >>',
          '%%EOF',
        ].join('\n'),
      ),
    },
  ],
  [
    idOf(5),
    {
      name: 'dot.png',
      type: 'image/png',
      content: Buffer.from(
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
        'base64',
      ),
    },
  ],
  [
    idOf(6),
    {
      name: 'mill.png',
      type: 'image/png',
      // One pixel, and what a camera says of it (EXIF).
      content: Buffer.from(
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAABbGVYSWZJSSoACAAAAAUADwECAAUAAADyAAAAEAECAAMAAABNMQAAMQEC' +
          'AAQAAAAyLjEAaYcEAAEAAABKAAAAJYgEAAEAAACkAAAAAAAAAAcAmoIFAAEAAAD3AAAAnYIFAAEAAAD/AAAAJ4gDAAEAAADIAAAAA5AC' +
          'ABQAAAAHAQAAEZACAAcAAAAbAQAACpIFAAEAAAAiAQAANKQCAAoAAAAqAQAAAAAAAAYAAQACAAIAAABOAAAAAgAFAAMAAAA0AQAAAwAC' +
          'AAIAAABXAAAABAAFAAMAAABMAQAABQABAAEAAAAAAAAABgAFAAEAAABkAQAAAAAAAE1pbGwAAQAAAPoAAAAcAAAACgAAADIwMjY6MDY6' +
          'MjEgMTI6MzQ6NTYAKzAyOjAwACMAAAABAAAAMzVtbSBGMi44ADQAAAABAAAAHgAAAAEAAAAAAAAAAQAAAA0AAAABAAAADwAAAAEAAAAk' +
          'AAAAAQAAAH0AAAAKAAAA+Wk1ywAAAAxJREFUeJxj+M/AAAADAQEAyf6S7wAAAABJRU5ErkJggg==',
        'base64',
      ),
    },
  ],
  [idOf(2), { name: 'note.txt', type: 'text/plain', content: Buffer.from('Hello') }],
];

/** Files of one execution: those of the examples, and what is saved, under ids that are counted. */
export function memoryFiles(): FileService & { readonly stored: ReadonlyMap<string, StoredFile> } {
  const stored = new Map<string, StoredFile>(EXAMPLES);
  let lastId = 100;
  return {
    stored,
    async open(value) {
      const id = fileIdOf(value);
      if (id === undefined) throw new ServiceError('invalid_config', verbatim('This is not a file.'));
      const file = stored.get(id);
      if (file === undefined) throw new ServiceError('file_not_found', verbatim(`There is no file ${id}.`));
      const { name, type, content } = file;
      return {
        name,
        type,
        size: content.length,
        sha256: hashOf(content),
        async *read({ start, end } = { start: 0, end: content.length - 1 }) {
          yield content.subarray(start, end + 1);
        },
      };
    },
    async save({ name, type }, source) {
      const pieces: Uint8Array[] = [];
      for await (const piece of source) pieces.push(piece);
      const content = Buffer.concat(pieces);
      lastId += 1;
      const id = idOf(lastId);
      stored.set(id, { name, type, content });
      const value: FileValue = { $file: id, name, type, size: content.length, sha256: hashOf(content) };
      return value;
    },
  };
}

function hashOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Works on the files of our own node tests: as the service does, without a thread and without limits. */
export const directContents: ContentService = {
  async work({ task, inputs, save }) {
    const host: Host = {
      inputs,
      async *read(input, start = 0, end = inputs[input]?.size ?? 0) {
        if (end > start) yield* inputs[input]?.read({ start, end: end - 1 }) ?? [];
      },
      save,
    };
    try {
      const result = parseJson(await workOnContents(task, host, MAX_OUTPUT_BYTES));
      if (isJsonObject(result)) return result;
      throw new Error('the result is no object');
    } catch (error) {
      if (!(error instanceof DocumentFault)) throw error;
      throw new ServiceError(error.code, error.explanation);
    }
  },
};
