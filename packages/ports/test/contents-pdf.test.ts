import { deflateSync } from 'node:zlib';
import { type ContentTask, type JsonObject, type OpenFile, ServiceError } from '@millrace/engine';
import { inEnglish } from '@millrace/messages/english';
import type { Caller } from '@millrace/runtime/node-services';
import { pdfFile, pdfStream } from '@millrace/testing/pdf';
import { afterAll, describe, expect, it } from 'vitest';
import { createContentService } from '../src/contents.ts';

const MIB = 1024 * 1024;
const services = createContentService({ maxOutputBytes: 2 * MIB });
afterAll(() => services.close());

const caller = { organisationId: 1 } as Caller;
const NEVER = new AbortController().signal;
const TASK = { kind: 'pdf_text', output: 'pages', skip: 0, limit: 1_000 } as const;

function fileOf(content: Buffer, size = content.length): OpenFile {
  return {
    name: 'input.pdf',
    type: 'application/pdf',
    size,
    sha256: '',
    async *read(range = { start: 0, end: content.length - 1 }) {
      yield content.subarray(range.start, range.end + 1);
    },
  };
}

function read(
  content: Buffer | OpenFile,
  task: Partial<Extract<ContentTask, { kind: 'pdf_text' }>> = {},
  timeoutMs = 120_000,
): Promise<JsonObject> {
  const inputs = [Buffer.isBuffer(content) ? fileOf(content) : content];
  const save = () => Promise.reject(new Error('nothing is made'));
  return services.service(caller).work({ task: { ...TASK, ...task }, inputs, save, timeoutMs }, NEVER);
}

async function failureOf(working: Promise<unknown>) {
  const ended: unknown = await working.catch((error: unknown) => error);
  if (!(ended instanceof ServiceError))
    throw new Error('it did not fail as a service does', { cause: ended });
  return { code: ended.code, text: inEnglish(ended.explanation) };
}

describe('the text of a PDF file', () => {
  it('is that of its pages, line by line, with what the file says of itself', async () => {
    const file = pdfFile(['Invoice 17\nTotal (gross): 42.00', 'Caf\xe9', ''], { title: 'Invoice' });
    expect(await read(file)).toEqual({
      page_count: 3,
      has_more: false,
      info: { title: 'Invoice' },
      pages: ['Invoice 17\nTotal (gross): 42.00', 'Café', ''],
    });
    expect(await read(file, { output: 'text' })).toMatchObject({
      text: 'Invoice 17\nTotal (gross): 42.00\n\nCafé\n\n',
    });
  });

  it('is read of compressed pages, and of some of many', async () => {
    const pages = Array.from({ length: 30 }, (_, at) => `Page ${at + 1}`);
    const part = await read(pdfFile(pages, { isCompressed: true }), { skip: 10, limit: 2 });
    expect(part).toMatchObject({ page_count: 30, has_more: true, pages: ['Page 11', 'Page 12'] });
    expect(await read(pdfFile(pages), { skip: 30 })).toMatchObject({ has_more: false, pages: [] });
  });

  it('is Japanese in Shift_JIS, whose characters a map of our own names', async () => {
    const font =
      '<< /Type /Font /Subtype /Type0 /BaseFont /MS-Gothic /Encoding /90ms-RKSJ-H /DescendantFonts [5 0 R] >>';
    const descendant =
      '<< /Type /Font /Subtype /CIDFontType2 /BaseFont /MS-Gothic /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> /DW 1000 /FontDescriptor << /Type /FontDescriptor /FontName /MS-Gothic /Flags 4 >> >>';
    const file = pdfFile(['<90BF8B818F91>'], { font, objects: [descendant] });
    expect(await read(file)).toMatchObject({ pages: ['請求書'] });
  });

  it('is read of a file whose table of objects is broken', async () => {
    const file = pdfFile(['Still here'])
      .toString('latin1')
      .replace(/startxref\n\d+/, 'startxref\n5');
    expect(await read(Buffer.from(file, 'latin1'))).toMatchObject({ pages: ['Still here'] });
  });
});

describe('a file without readable text', () => {
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('no document')],
    ['a beginning', pdfFile(['a']).subarray(0, 40)],
  ])('%s is not a PDF file', async (_what, content) => {
    const { code, text } = await failureOf(read(content));
    expect(code).toBe('invalid_data');
    expect(text).toContain("This isn't a valid PDF file");
  });

  it('with a password says so', async () => {
    const trailer = `/ID [<00> <00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <${'00'.repeat(32)}> /U <${'00'.repeat(32)}> >>`;
    const { code, text } = await failureOf(read(pdfFile(['secret'], { trailer })));
    expect([code, text]).toEqual(['invalid_data', 'The PDF file needs a password. Save it without one.']);
  });

  it('that is too large is refused before it is read', async () => {
    const { code } = await failureOf(read(fileOf(Buffer.alloc(0), 65 * MIB)));
    expect(code).toBe('document_too_complex');
  });

  it('that expands without end is stopped, and the next one is read', async () => {
    const bomb = deflateSync(Buffer.alloc(130 * MIB, 0x20), { level: 9 });
    const bombs = pdfFile(['a']);
    const content = pdfStream(bomb, '/Filter /FlateDecode');
    const text = bombs
      .toString('latin1')
      .replace(/<< \/Length \d+ +>>\nstream\n[\s\S]*?endstream/, content.toString('latin1'));
    const { code, text: said } = await failureOf(read(Buffer.from(text, 'latin1')));
    expect([code, said]).toEqual([
      'document_too_complex',
      'A part of the PDF file expands to too many bytes.',
    ]);
    expect(await read(pdfFile(['next']))).toMatchObject({ pages: ['next'] });
  });

  it('with more text than an output may have is refused', async () => {
    const small = createContentService({ maxOutputBytes: 40 });
    const order = {
      task: TASK,
      inputs: [fileOf(pdfFile(['x'.repeat(30), 'x'.repeat(30)]))],
      timeoutMs: 120_000,
    };
    const save = () => Promise.reject(new Error('nothing is made'));
    const { code } = await failureOf(small.service(caller).work({ ...order, save }, NEVER));
    await small.close();
    expect(code).toBe('document_output_too_large');
  });

  it('that takes too long is stopped', async () => {
    const stalled = { ...fileOf(pdfFile(['slow'])), read: () => new ReadableStream<Uint8Array>() };
    expect((await failureOf(read(stalled, {}, 1))).code).toBe('document_timeout');
  });
});

it('nothing in a file is run or loaded', async () => {
  const objects = [
    '<< /S /JavaScript /JS (globalThis.ran = true) >>',
    '<< /S /URI /URI (http://127.0.0.1:1/) >>',
  ];
  const file = pdfFile(['quiet'], { objects }).toString('latin1');
  const opened = file.replace('/Type /Catalog', '/Type /Catalog /OpenAction 5 0 R');
  expect(await read(Buffer.from(opened, 'latin1'))).toMatchObject({ pages: ['quiet'] });
  expect(Object.hasOwn(globalThis, 'ran')).toBe(false);
});
