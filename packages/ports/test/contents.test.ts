import { createHash } from 'node:crypto';
import {
  type ContentTask,
  type FileService,
  type JsonObject,
  type NewTable,
  type OpenFile,
  ServiceError,
  type TableForm,
} from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { inEnglish } from '@millrace/messages/english';
import type { Caller } from '@millrace/runtime/node-services';
import { afterAll, describe, expect, it } from 'vitest';
import { ZipFile } from 'yazl';
import { createContentService } from '../src/contents.ts';

const MIB = 1024 * 1024;
const services = createContentService({ maxOutputBytes: 2 * MIB });
afterAll(() => services.close());

const caller = { organisationId: 1 } as Caller;
const NEVER = new AbortController().signal;
const PATIENT_MS = 60_000;

interface SavedFile {
  readonly name: string;
  readonly type: string;
  readonly content: Buffer;
}

function file(name: string, content: string | Buffer): OpenFile & { readonly readBytes: () => number } {
  const bytes = Buffer.from(content);
  let readBytes = 0;
  return {
    name,
    type: 'application/octet-stream',
    size: bytes.length,
    sha256: '',
    readBytes: () => readBytes,
    async *read(range = { start: 0, end: bytes.length - 1 }) {
      const part = bytes.subarray(range.start, range.end + 1);
      readBytes += part.length;
      yield part;
    },
  };
}

function keep(saved: SavedFile[]): FileService['save'] {
  return async ({ name, type }, source) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of source) pieces.push(piece);
    const content = Buffer.concat(pieces);
    saved.push({ name, type, content });
    const sha256 = createHash('sha256').update(content).digest('hex');
    return { $file: `saved-${saved.length}`, name, type, size: content.length, sha256 };
  };
}

interface WorkOptions {
  readonly saved?: SavedFile[];
  readonly save?: FileService['save'];
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

function work(
  task: ContentTask,
  inputs: readonly OpenFile[],
  options: WorkOptions = {},
): Promise<JsonObject> {
  const { saved = [], save = keep(saved), timeoutMs = PATIENT_MS, signal = NEVER } = options;
  return services.service(caller).work({ task, inputs, save, timeoutMs }, signal);
}

const csv: TableForm = { format: 'csv', encoding: 'auto', delimiter: '', header: true };
const xlsx: TableForm = { format: 'xlsx', sheet: '', header: true };
const jsonl: TableForm = { format: 'jsonl', encoding: 'auto' };

function readRows(
  form: TableForm,
  content: string | Buffer,
  more: { skip?: number; limit?: number } = {},
): Promise<JsonObject> {
  return work({ kind: 'read_rows', form, skip: 0, limit: 1_000, ...more }, [file('input', content)]);
}

const csvTable: NewTable = {
  format: 'csv',
  name: 'out.csv',
  type: 'text/csv',
  columns: [],
  header: true,
  delimiter: ',',
  mark: false,
  formulas: false,
  sheet: 'Sheet1',
};

async function write(table: Partial<NewTable>, rows: string): Promise<Buffer> {
  const saved: SavedFile[] = [];
  await work({ kind: 'write_rows', table: { ...csvTable, ...table }, rows, forms: [] }, [], { saved });
  return saved[0]?.content ?? Buffer.alloc(0);
}

const writtenText = async (table: Partial<NewTable>, rows: string) => (await write(table, rows)).toString();

async function failureOf(working: Promise<unknown>): Promise<ServiceError> {
  const ended: unknown = await working.catch((error: unknown) => error);
  if (ended instanceof ServiceError) return ended;
  throw new Error(`it did not fail as a service does: ${JSON.stringify(ended)?.slice(0, 200)}`, {
    cause: ended,
  });
}

const codeOf = async (working: Promise<unknown>) => (await failureOf(working)).code;

async function zipOf(entries: { readonly [path: string]: string | Buffer }): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [path, content] of Object.entries(entries)) zip.addBuffer(Buffer.from(content), path);
  zip.end();
  const pieces: Buffer[] = [];
  for await (const piece of zip.outputStream as AsyncIterable<Buffer>) pieces.push(piece);
  return Buffer.concat(pieces);
}

it('the bytes of any file are read as base64, unless they are more than a result may be', async () => {
  const bytes = Buffer.from([0, 255, 128, 10, 13]);
  expect(await work({ kind: 'read_base64' }, [file('a.png', bytes)])).toEqual({
    format: 'base64',
    base64: bytes.toString('base64'),
  });
  // Two MiB of text are a file of one and a half.
  const large = work({ kind: 'read_base64' }, [file('a.png', Buffer.alloc(1.6 * MIB))]);
  expect(await codeOf(large)).toBe('document_output_too_large');
});

describe('CSV', () => {
  it('becomes objects with the names of the header, each once', async () => {
    const text = '\uFEFFid;name;name;;__proto__\r\n1;"A;\n""b""";x\r\n\r\n2;;;4;5;6\r\n';
    expect(JSON.stringify(await readRows(csv, text))).toBe(
      JSON.stringify({
        format: 'csv',
        columns: ['id', 'name', 'name_2', 'column_4', '__proto__'],
        count: 2,
        has_more: false,
      }).slice(0, -1) +
        ',"rows":[{"id":"1","name":"A;\\n\\"b\\"","name_2":"x","column_4":null,"__proto__":null},' +
        '{"id":"2","name":"","name_2":"","column_4":"4","__proto__":"5","column_6":"6"}]}',
    );
  });

  it('is read in the encoding that it has', async () => {
    // "名,値" and "東京,1" in Shift_JIS.
    const bytes = Buffer.from('96bc2c926c0a938c8b9e2c310a', 'hex');
    expect(await readRows(csv, bytes)).toMatchObject({ rows: [{ 名: '東京', 値: '1' }] });
    const utf16 = Buffer.from('\uFEFFa\tb\n東\t2\n', 'utf16le');
    expect(await readRows(csv, utf16)).toMatchObject({ rows: [{ a: '東', b: '2' }] });
  });

  it('is read only as far as needed, and says whether there is more', async () => {
    const large = file('input', `id\n${'1234567\n'.repeat(MIB)}`);
    const task = { kind: 'read_rows', form: csv, skip: 2, limit: 3 } as const;
    expect(await work(task, [large])).toMatchObject({ count: 3, has_more: true });
    expect(large.readBytes()).toBeLessThan(3 * MIB);
    expect(await readRows(csv, 'id\n1\n2\n', { skip: 1, limit: 1 })).toMatchObject({
      rows: [{ id: '2' }],
      has_more: false,
    });
  });

  it('that never ends, or is too much for an output, is refused', async () => {
    const endless = await failureOf(readRows(csv, `id\n1\n"${'x'.repeat(5 * MIB)}`));
    expect([endless.code, inEnglish(endless.explanation)]).toEqual([
      'invalid_data',
      expect.stringContaining('never closed'),
    ]);
    const wide = `id\n${`${'x'.repeat(1_000)}\n`.repeat(5_000)}`;
    expect(await codeOf(readRows(csv, wide, { limit: 1_000_000 }))).toBe('document_output_too_large');
  });

  it('is split into files of JSON lines', async () => {
    const saved: SavedFile[] = [];
    const rows = Array.from({ length: 1_201 }, (_, index) => index);
    const task = { kind: 'split_rows', form: csv, rowsPerFile: 600, name: 'orders' } as const;
    const output = await work(task, [file('orders.csv', `id\n${rows.join('\n')}`)], { saved });
    expect(output).toMatchObject({ count: 1_201, columns: ['id'] });
    expect(saved.map(({ name }) => name)).toEqual([
      'orders-0001.jsonl',
      'orders-0002.jsonl',
      'orders-0003.jsonl',
    ]);
    expect(saved[2]?.content.toString()).toBe('{"id":"1200"}\n');
    expect(await codeOf(work({ ...task, rowsPerFile: 1 }, [file('a.csv', `id\n${rows.join('\n')}`)]))).toBe(
      'invalid_config',
    );
  });

  it('is written with quotes where they are needed, and without formulas', async () => {
    const rows =
      '[{"a":"x, y","b":12345678901234567890.10},{"b":"-1.5"},{"a":"=HYPERLINK(1)","b":["\\n"]},{"a":"@SUM","b":"+81 3"}]';
    expect(await writtenText({}, rows)).toBe(
      'a,b\r\n"x, y",12345678901234567890.10\r\n,-1.5\r\n\'=HYPERLINK(1),"[""\\n""]"\r\n\'@SUM,\'+81 3\r\n',
    );
    expect(
      await writtenText({ formulas: true, mark: true, header: false, delimiter: ';', columns: ['a'] }, rows),
    ).toBe('\uFEFF"x, y"\r\n""\r\n=HYPERLINK(1)\r\n@SUM\r\n'.replace('"x, y"', 'x, y'));
  });

  it('loses no value without saying so', async () => {
    const rows = [...Array.from({ length: 1_100 }, () => ({ a: 1 })), { a: 1, late: 2 }];
    const { code, explanation } = await failureOf(write({}, JSON.stringify(rows)));
    expect([code, inEnglish(explanation)]).toEqual(['invalid_data', expect.stringContaining('late')]);
    expect(await codeOf(write({}, '[1]'))).toBe('invalid_data');
  });
});

describe('Excel workbooks', () => {
  it('have again what was written into them', async () => {
    const rows = [
      { text: ' <a> & "b"\n_x0041_\u0001\r', number: -1.5e-7, flag: true, formula: '=1+1' },
      { text: null, number: 0, flag: false, formula: '名前' },
    ];
    const content = await write({ format: 'xlsx', sheet: 'A & B' }, JSON.stringify(rows));
    expect(await readRows({ ...xlsx, sheet: 'A & B' }, content)).toEqual({
      format: 'xlsx',
      columns: ['text', 'number', 'flag', 'formula'],
      sheet: 'A & B',
      sheets: ['A & B'],
      count: 2,
      has_more: false,
      rows,
    });
  });

  it('keep long digits as text, and refuse what has no place in a cell', async () => {
    const content = await write({ format: 'xlsx' }, '[{"id":12345678901234567}]');
    expect(await readRows(xlsx, content)).toMatchObject({ rows: [{ id: '12345678901234567' }] });
    expect(await codeOf(write({ format: 'xlsx' }, JSON.stringify([{ a: 'x'.repeat(32_768) }])))).toBe(
      'invalid_data',
    );
  });

  it('of other programs are read with dates, shared texts and results of formulas', async () => {
    const content = await zipOf(
      workbook({
        sheet: `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>when</t></is></c></row>
        <row r="3"><c r="A3" t="s"><v>1</v></c><c r="B3"><f>1+1</f><v>2</v></c><c r="C3" s="1"><v>45000.5</v></c></row>
        <row r="4"><c r="C4" s="2"><v>45000</v></c><c r="D4" t="e"><v>#N/A</v></c></row>`,
      }),
    );
    expect(await readRows(xlsx, content)).toMatchObject({
      columns: ['name', 'column_2', 'when'],
      rows: [
        { name: '東京', column_2: 2, when: '2023-03-15T12:00:00' },
        { name: null, column_2: null, when: '2023-03-15', column_4: '#N/A' },
      ],
    });
    const other = await failureOf(readRows({ ...xlsx, sheet: 'Other' }, content));
    expect(inEnglish(other.explanation)).toContain('First');
  });

  it.each([
    ['a text', 'id\n1\n'],
    ['the old format', Buffer.from('d0cf11e0a1b11ae1', 'hex')],
  ])('that are %s are refused', async (_, content) => {
    expect(await codeOf(readRows(xlsx, content))).toBe('invalid_data');
  });

  it('without sheets, or with a broken one, are refused', async () => {
    expect(await codeOf(readRows(xlsx, await zipOf({ 'a.txt': 'x' })))).toBe('invalid_data');
    expect(await codeOf(readRows(xlsx, await zipOf(workbook({ sheet: '<row><c></row>' }))))).toBe(
      'invalid_data',
    );
    const wide = workbook({ sheet: '<row><c r="ZZZZ1"><v>1</v></c></row>' });
    expect(await codeOf(readRows(xlsx, await zipOf(wide)))).toBe('document_too_complex');
  });

  it('that are bombs are stopped by their cells, and by time', async () => {
    const long = workbook({
      sheet: `<row><c t="inlineStr"><is><t>${'x'.repeat(2 * MIB)}</t></is></c></row>`,
    });
    expect(await codeOf(readRows(xlsx, await zipOf(long)))).toBe('document_too_complex');
    // The last rows never arrive, so that no machine is fast enough.
    const many = await zipOf(workbook({ sheet: '<row/>'.repeat(4 * MIB) }));
    const stalled = { ...file('bomb.xlsx', many), read: () => new ReadableStream<Uint8Array>() };
    const task = { kind: 'read_rows', form: xlsx, skip: 0, limit: 10 } as const;
    expect(await codeOf(work(task, [stalled], { timeoutMs: 1 }))).toBe('document_timeout');
  });
});

function workbook({ sheet }: { readonly sheet: string }): { [path: string]: string } {
  const relation = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/>`;
  return {
    '_rels/.rels': `<Relationships>${relation('r1', 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
    'xl/workbook.xml':
      '<workbook xmlns:r="urn:r"><sheets><sheet name="First" r:id="r7"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels': `<Relationships>${relation('r7', 'worksheet', '/xl/worksheets/a.xml')}</Relationships>`,
    'xl/sharedStrings.xml':
      '<sst><si><t>name</t></si><si><r><t>東</t></r><r><t>京</t></r><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></si></sst>',
    'xl/styles.xml':
      '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy&quot;年&quot;m&quot;月&quot;d&quot;日&quot;"/></numFmts>' +
      '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="22"/><xf numFmtId="164"/></cellXfs></styleSheet>',
    'xl/worksheets/a.xml': `<x:worksheet xmlns:x="urn:x"><sheetData>${sheet}</sheetData></x:worksheet>`,
  };
}

describe('JSON', () => {
  it('lines are rows as they are, and join into other tables', async () => {
    const text = '{"id":12345678901234567890}\n\n{"id":2}\n';
    expect(await readRows(jsonl, text)).toMatchObject({ count: 2 });
    const saved: SavedFile[] = [];
    const task = { kind: 'write_rows', table: csvTable, rows: '[{"id":0}]', forms: [jsonl, csv] } as const;
    await work(task, [file('a.jsonl', text), file('b.csv', 'id\n3\n')], { saved });
    expect(saved[0]?.content.toString()).toBe('id\r\n0\r\n12345678901234567890\r\n2\r\n3\r\n');
    const wrong = await failureOf(readRows(jsonl, '{}\n{"a":}\n'));
    expect(inEnglish(wrong.explanation)).toContain('Line 2');
  });

  it('is read as it is, or refused with the place of the mistake', async () => {
    const read = (text: string) => work({ kind: 'read_json', encoding: 'auto' }, [file('a.json', text)]);
    expect(JSON.stringify(await read('{"__proto__":[12345678901234567890]}'))).toBe(
      '{"format":"json","data":{"__proto__":[12345678901234567890]}}',
    );
    const { code, explanation } = await failureOf(read('{\n "a": tru }'));
    expect([code, inEnglish(explanation)]).toEqual(['invalid_data', expect.stringContaining('line 2')]);
    expect(await codeOf(read(`"${'x'.repeat(5 * MIB)}"`))).toBe('document_output_too_large');
  });

  it('and other lists of rows are written as one value or as lines', async () => {
    expect(JSON.parse(await writtenText({ format: 'json' }, '[{"a":1},[2]]'))).toEqual([{ a: 1 }, [2]]);
    expect(await writtenText({ format: 'json' }, '[]')).toBe('[]\n');
    expect(await writtenText({ format: 'jsonl' }, '[{"a":1},[2]]')).toBe('{"a":1}\n[2]\n');
  });
});

describe('archives', () => {
  const extract = { kind: 'zip_extract', names: [], maxFiles: 10, maxBytes: 1_000 } as const;

  it('are made of files, listed and extracted again', async () => {
    const saved: SavedFile[] = [];
    const inputs = [file('a.txt', 'A'), file('a.txt', 'B'), file('c', '')];
    await work({ kind: 'zip_make', name: 'all.zip' }, inputs, { saved });
    const archive = file('all.zip', saved[0]?.content ?? '');
    expect(await work({ kind: 'zip_list', limit: 2 }, [archive])).toEqual({
      entries: [
        { path: 'a.txt', size: 1, encrypted: false },
        { path: 'a (2).txt', size: 1, encrypted: false },
      ],
      count: 3,
      has_more: true,
    });
    const found: SavedFile[] = [];
    expect(await work({ ...extract, names: ['a*.txt'] }, [archive], { saved: found })).toMatchObject({
      count: 2,
    });
    expect(found.map(({ name, content }) => [name, content.toString()])).toEqual([
      ['a.txt', 'A'],
      ['a (2).txt', 'B'],
    ]);
  });

  it('with more than allowed are refused before anything is extracted', async () => {
    const saved: SavedFile[] = [];
    const bomb = file('bomb.zip', await zipOf({ a: Buffer.alloc(2_000), b: 'x' }));
    expect(await codeOf(work(extract, [bomb], { saved }))).toBe('document_too_complex');
    expect(await codeOf(work({ ...extract, maxFiles: 1 }, [bomb], { saved }))).toBe('document_too_complex');
    expect(saved).toEqual([]);
  });

  it('that declare less than they contain, or name what is outside, are refused', async () => {
    const content = await zipOf({ 'a.txt': Buffer.alloc(5_000) });
    // The size in the central directory.
    const at = content.lastIndexOf(Buffer.from('504b0102', 'hex'));
    content.writeUInt32LE(10, at + 24);
    expect(await codeOf(work(extract, [file('liar.zip', content)]))).toBe('invalid_data');
    const outside = await zipOf({ aaaaaaaa: 'x' });
    const named = Buffer.from(outside.toString('latin1').replaceAll('aaaaaaaa', '../../aa'), 'latin1');
    expect(await codeOf(work(extract, [file('outside.zip', named)]))).toBe('invalid_data');
  });
});

describe('the threads', () => {
  it('pass on why a file could not be read or stored', async () => {
    const broken: OpenFile = {
      ...file('a.csv', 'id\n'),
      read() {
        throw new ServiceError('file_missing', verbatim('gone'));
      },
    };
    expect(await codeOf(work({ kind: 'read_text', encoding: 'auto' }, [broken]))).toBe('file_missing');
    const save: FileService['save'] = async (_file, source) => {
      for await (const { length } of source) {
        if (length > 0) throw new ServiceError('storage_full', verbatim('full'));
      }
      throw new Error('nothing came');
    };
    const rows = JSON.stringify(Array.from({ length: 20_000 }, () => ({ a: 'x'.repeat(100) })));
    const task = { kind: 'write_rows', table: csvTable, rows, forms: [] } as const;
    expect(await codeOf(work(task, [], { save }))).toBe('storage_full');
  });

  it('leave no file behind when they are stopped', async () => {
    const controller = new AbortController();
    let ended: unknown;
    const save: FileService['save'] = async (_file, source) => {
      try {
        for await (const { length } of source) if (length > 0) controller.abort();
      } catch (error) {
        ended = error;
        throw error;
      }
      throw new Error('the content came to its end');
    };
    const rows = JSON.stringify(Array.from({ length: 40_000 }, () => ({ a: 'x'.repeat(100) })));
    const task = { kind: 'write_rows', table: csvTable, rows, forms: [] } as const;
    expect(await codeOf(work(task, [], { save, signal: controller.signal }))).toBe('aborted');
    expect(ended).toBeInstanceOf(Error);
  });
});
