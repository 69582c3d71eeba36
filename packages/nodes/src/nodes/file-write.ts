import {
  type FileValue,
  isJsonArray,
  type JsonValue,
  mediaTypeOf,
  type NewTable,
  type NodeContext,
  type NodeResult,
  type OpenFile,
  stringifyWork,
  success,
  type TableForm,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { choice } from '@millrace/node-kit/choice';
import { checkedNode } from '@millrace/node-kit/define';
import { NodeProblem } from '@millrace/node-kit/node-problem';
import { scalarText, typeName } from '@millrace/node-kit/values';
import { type Static, type TObject, Type } from 'typebox';
import {
  delimiterOf,
  delimiterProperty,
  FILE_NODE_TIMEOUT_MS,
  fileTimeoutProperty,
  formatOf,
  usualForm,
} from '../files/config.ts';
import { openFiles } from '../files/open-files.ts';
import { workOn } from '../files/work-on.ts';

const WHEN_TABLE = { format: ['csv', 'xlsx', 'jsonl', 'json', 'ical'] };
const WHEN_COLUMNS = { format: ['csv', 'xlsx'] };
const WHEN_CSV = { format: ['csv'] };

const properties = {
  format: choice(
    'Format',
    'Text also makes HTML, Markdown or XML: the name says what it is. Calendar makes events of rows with start and, if wanted, end, summary, location, description, attendees and more, as reading gives them. JSON writes any value. Base64 makes any file of its bytes, written in base64.',
    {
      csv: 'CSV',
      xlsx: 'Excel (XLSX)',
      jsonl: 'JSON Lines',
      ical: 'Calendar (iCalendar)',
      json: 'JSON',
      text: 'Text',
      base64: 'Base64',
    },
    { default: 'csv' },
  ),
  name: Type.String({
    title: 'Name',
    description: 'The name of the file. Without an extension, it gets that of the format.',
    default: 'report',
    minLength: 1,
    maxLength: 200,
  }),
  data: Type.Unsafe<JsonValue>({
    title: 'Data',
    description:
      'The content: a list of rows, a text, or for JSON any value; usually a template such as {{nodes.read.output.rows}}. A row is an object, or a list of cells.',
    default: [],
  }),
  files: Type.Unsafe<JsonValue>({
    title: 'Files',
    description:
      'A list of files with further rows, which are added in this order: JSON Lines, CSV, Excel or calendars. Use it to join what a loop has written.',
    default: [],
    'x-when': WHEN_TABLE,
  }),
  columns: Type.Array(Type.String({ minLength: 1, maxLength: 500 }), {
    title: 'Columns',
    description:
      'The members of the rows that are written, in this order. Empty: all members of the first 1,000 rows.',
    default: [],
    maxItems: 1_000,
    'x-when': WHEN_COLUMNS,
  }),
  header: Type.Boolean({
    title: 'Names in the first row',
    description: 'The first row has the names of the columns.',
    default: true,
    'x-when': WHEN_COLUMNS,
  }),
  sheet: Type.String({
    title: 'Sheet',
    description: 'The name of the sheet.',
    default: 'Sheet1',
    minLength: 1,
    maxLength: 31,
    'x-when': { format: ['xlsx'] },
  }),
  delimiter: delimiterProperty('What separates the cells.', WHEN_CSV),
  byte_order_mark: Type.Boolean({
    title: 'For Excel',
    description:
      'Begins the file with a byte order mark. Without it, Excel shows wrong characters for anything but English.',
    default: false,
    'x-when': WHEN_CSV,
  }),
  formulas: Type.Boolean({
    title: 'Allow formulas',
    description:
      'Leave this off for data from others: text that a spreadsheet would run as a formula then gets an apostrophe before it. Texts in Excel files are never formulas.',
    default: false,
    'x-when': WHEN_CSV,
  }),
  timeout_ms: fileTimeoutProperty,
};

type Config = Static<TObject<typeof properties>>;

export const fileWrite = checkedNode({
  type: 'file.write',
  title: 'Write file',
  description:
    'Makes a file: CSV, Excel or JSON from rows, a calendar from events, or text. It belongs to the execution, and is deleted with it. The output is {file}, and for rows also {count}.',
  icon: 'file-output',
  kind: 'effect',
  properties,
  required: ['format', 'name'],
  defaultTimeoutMs: FILE_NODE_TIMEOUT_MS,
  form: {
    main: ['format', 'name', 'data', 'files', 'columns'],
    sections: [
      {
        title: 'Form of the table',
        fields: ['header', 'sheet', 'delimiter', 'byte_order_mark', 'formulas'],
      },
      { title: 'Limits', fields: ['timeout_ms'] },
    ],
  },
  synonyms: [
    'csv',
    'excel',
    'xlsx',
    'spreadsheet',
    'export',
    'report',
    'convert to file',
    'attachment',
    'ics',
    'ical',
    'invitation',
  ],
  examples: [
    {
      title: 'A report for a spreadsheet',
      config: { format: 'csv', name: 'orders', data: '{{trigger.data.orders}}' },
      trigger: {
        orders: [
          { id: 17, customer: 'Ada' },
          { id: 18, customer: '=1+1' },
        ],
      },
      expect: {
        output: {
          file: {
            $file: '00000000-0000-4000-8000-000000000101',
            name: 'orders.csv',
            type: 'text/csv; charset=utf-8',
            size: 31,
            sha256: 'bbb0cdef8f40a6bd720904fdda22a1f924dd6bd9109f4bff1299062c3da00d67',
          },
          count: 2,
        },
      },
    },
    {
      title: 'A page',
      config: { format: 'text', name: 'hello.html', data: '<p>Hello</p>' },
      expect: {
        output: {
          file: {
            $file: '00000000-0000-4000-8000-000000000101',
            name: 'hello.html',
            type: 'text/html; charset=utf-8',
            size: 12,
            sha256: 'd0a26d23e9d8e0538fd47e7bc502d26cf6c320e8daaec7c8521d4769530f5900',
          },
        },
      },
    },
    {
      title: "Rows that aren't rows",
      config: { format: 'csv', name: 'orders', data: ['Ada'] },
      expect: { failure: { code: 'invalid_data' } },
    },
  ],
  async run(config, context) {
    if (config.format === 'text' || config.format === 'base64') {
      return success({ file: await writeText(config, context) });
    }
    const inputs = await openFiles(config.files, context.files);
    if (config.format === 'json' && inputs.length === 0) {
      return success({ file: await writeJson(config, context) });
    }
    return writeTable(config, inputs, context);
  },
});

const EXTENSIONS: { readonly [format: string]: string } = { text: 'txt', base64: 'bin', ical: 'ics' };

function describeFile(config: Config): { readonly name: string; readonly type: string } {
  const extension = EXTENSIONS[config.format] ?? config.format;
  const given = config.name.trim();
  const name = mediaTypeOf(given) === undefined ? `${given}.${extension}` : given;
  return { name, type: mediaTypeOf(name) ?? 'application/octet-stream' };
}

async function writeText(config: Config, { files }: NodeContext): Promise<FileValue> {
  const text = scalarText(config.data);
  if (text === undefined) {
    throw new NodeProblem(
      message('nodes.document_not_text', { setting: 'data', given: typeName(config.data) }),
    );
  }
  if (config.format === 'text') return files.save(describeFile(config), once(text));
  return files.save(describeFile(config), decoded(text));
}

/** Of either alphabet. */
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
/** Characters that are decoded at once. */
const PIECE = 262_144;

/**
 * The bytes of base64 as web services write it: perhaps with line breaks, or as a data URL.
 * @throws NodeProblem if it is something else
 */
async function* decoded(text: string): AsyncGenerator<Uint8Array> {
  const [start = ''] = /^data:[^,]{0,200};base64,/.exec(text.slice(0, 300)) ?? [];
  let rest = '';
  for (let at = start.length; at < text.length; at += PIECE) {
    const piece = rest + text.slice(at, at + PIECE).replaceAll(/\s+/g, '');
    // Nothing follows what ends it.
    if (!BASE64.test(piece) || (rest.endsWith('=') && piece !== rest)) {
      throw new NodeProblem(message('nodes.data_not_base64'));
    }
    const isLast = at + PIECE >= text.length;
    const length = isLast || piece.endsWith('=') ? piece.length : piece.length - (piece.length % 4);
    if (piece.endsWith('=') && !isLast) {
      rest = piece;
      continue;
    }
    rest = piece.slice(length);
    yield Buffer.from(piece.slice(0, length), 'base64');
  }
}

async function writeJson(config: Config, context: NodeContext): Promise<FileValue> {
  const text = await context.inTurns((meter) => stringifyWork(config.data, meter));
  return context.files.save(describeFile(config), once(`${text}\n`));
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function writeTable(
  config: Config,
  inputs: readonly OpenFile[],
  context: NodeContext,
): Promise<NodeResult> {
  if (!isJsonArray(config.data)) {
    throw new NodeProblem(message('nodes.rows_not_list', { given: typeName(config.data) }));
  }
  const table: NewTable = {
    ...describeFile(config),
    format: config.format === 'text' || config.format === 'base64' ? 'jsonl' : config.format,
    columns: config.columns,
    header: config.header,
    delimiter: delimiterOf(config.delimiter),
    mark: config.byte_order_mark,
    formulas: config.formulas,
    sheet: config.sheet,
  };
  const rows = await context.inTurns((meter) => stringifyWork(config.data, meter));
  const task = { kind: 'write_rows', table, rows, forms: inputs.map(formFor) } as const;
  return success(await workOn(task, inputs, config.timeout_ms, context));
}

function formFor(file: OpenFile): TableForm {
  const form = usualForm(formatOf(file));
  if (form !== null) return form;
  throw new NodeProblem(message('nodes.file_without_rows', { name: file.name }));
}
