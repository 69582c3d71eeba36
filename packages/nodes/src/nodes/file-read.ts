import { type ContentTask, success, type TableForm } from '@millrace/engine';
import { choice } from '@millrace/node-kit/choice';
import { checkedNode } from '@millrace/node-kit/define';
import { type Static, type TObject, Type } from 'typebox';
import {
  delimiterOf,
  delimiterProperty,
  encodingProperty,
  FILE_NODE_TIMEOUT_MS,
  fileProperty,
  fileTimeoutProperty,
  formatOf,
  type ReadFormat,
  usualForm,
} from '../files/config.ts';
import { workOn } from '../files/work-on.ts';

const TABLES = ['auto', 'csv', 'xlsx', 'jsonl', 'ical'];
const WHEN_TABLE = { format: TABLES };

const properties = {
  file: fileProperty('The file to read, usually a template such as {{trigger.data.file}}.'),
  format: choice(
    'Format',
    'Automatic: by the name of the file, or by its type. Anything unknown is text. Base64: the bytes of any file as a text, for services that take it within JSON.',
    {
      auto: 'Automatic',
      csv: 'CSV',
      xlsx: 'Excel (XLSX)',
      jsonl: 'JSON Lines',
      ical: 'Calendar (iCalendar)',
      json: 'JSON',
      text: 'Text',
      base64: 'Base64',
    },
    { default: 'auto' },
  ),
  output: choice(
    'Output',
    'Rows: a list of them. Batches: files with some rows each, for a loop that reads one after the other. A file of any size can be read in batches.',
    { rows: 'Rows', batches: 'Batches' },
    { default: 'rows', 'x-when': WHEN_TABLE },
  ),
  header: Type.Boolean({
    title: 'First row has names',
    description: 'Rows become objects with these names. Turn this off to get lists of cells.',
    default: true,
    'x-when': { format: ['auto', 'csv', 'xlsx'] },
  }),
  sheet: Type.String({
    title: 'Sheet',
    description: 'The name of a sheet. Empty: the first one.',
    default: '',
    maxLength: 200,
    'x-when': { format: ['auto', 'xlsx'] },
  }),
  skip: Type.Integer({
    title: 'Skip',
    description: 'Rows to leave out at the beginning, after the header.',
    minimum: 0,
    maximum: 100_000_000,
    default: 0,
    'x-when': { output: ['rows'], ...WHEN_TABLE },
  }),
  limit: Type.Integer({
    title: 'Limit',
    description: 'The maximum number of rows. has_more in the output says whether the file has further ones.',
    minimum: 1,
    maximum: 1_000_000,
    default: 10_000,
    'x-when': { output: ['rows'], ...WHEN_TABLE },
  }),
  batch_rows: Type.Integer({
    title: 'Rows per batch',
    description: 'At most 1,000 batches are made.',
    minimum: 1,
    maximum: 1_000_000,
    default: 1_000,
    'x-when': { output: ['batches'], ...WHEN_TABLE },
  }),
  delimiter: delimiterProperty(
    'What separates the cells. Automatic: by the first row.',
    { format: ['auto', 'csv'] },
    'Automatic',
  ),
  encoding: encodingProperty({ format: ['auto', 'csv', 'jsonl', 'ical', 'json', 'text'] }),
  timeout_ms: fileTimeoutProperty,
};

type Config = Static<TObject<typeof properties>>;

export const fileRead = checkedNode({
  type: 'file.read',
  title: 'Read file',
  description:
    'Reads the content of a file: rows of CSV, Excel and JSON Lines, events of a calendar, a JSON value, or text. Cells of CSV are text; in Excel, numbers and booleans stay what they are, dates become ISO 8601, and formulas their last result. Each event is a row with summary, start, end and more; recurring ones stay one row. The output is {rows, count, has_more}, {data} or {text}; batches are {files, count}.',
  icon: 'file-input',
  kind: 'effect',
  properties,
  required: ['file'],
  defaultTimeoutMs: FILE_NODE_TIMEOUT_MS,
  form: {
    main: ['file', 'format', 'output', 'header', 'sheet', 'skip', 'limit', 'batch_rows'],
    sections: [
      { title: 'Delimiter and encoding', fields: ['delimiter', 'encoding'] },
      { title: 'Limits', fields: ['timeout_ms'] },
    ],
  },
  synonyms: [
    'csv',
    'excel',
    'xlsx',
    'spreadsheet',
    'tsv',
    'parse',
    'import',
    'extract from file',
    'shift_jis',
    'ics',
    'ical',
    'calendar',
  ],
  examples: [
    {
      title: 'Rows of a CSV file',
      config: { file: '{{trigger.data.file}}', limit: 2 },
      trigger: { file: { $file: '00000000-0000-4000-8000-000000000001', name: 'orders.csv' } },
      expect: {
        output: {
          format: 'csv',
          columns: ['id', 'customer'],
          count: 2,
          has_more: true,
          rows: [
            { id: '17', customer: 'Ada' },
            { id: '18', customer: 'Bo; Co' },
          ],
        },
      },
    },
    {
      title: 'Text',
      config: { file: '{{trigger.data.file}}', format: 'text' },
      trigger: { file: { $file: '00000000-0000-4000-8000-000000000002', name: 'note.txt' } },
      expect: { output: { format: 'text', text: 'Hello' } },
    },
    {
      title: 'What is not a file',
      config: { file: 'orders.csv' },
      expect: { failure: { code: 'invalid_config' } },
    },
  ],
  async run(config, context) {
    const file = await context.files.open(config.file);
    if (config.format === 'base64') {
      return success(await workOn({ kind: 'read_base64' }, [file], config.timeout_ms, context));
    }
    const format = config.format === 'auto' ? formatOf(file) : config.format;
    const task = taskOf(config, format, file.name);
    return success(await workOn(task, [file], config.timeout_ms, context));
  },
});

function taskOf(config: Config, format: ReadFormat, fileName: string): ContentTask {
  const { encoding, skip, limit } = config;
  const form = formFor(config, format);
  if (form === null) return { kind: format === 'json' ? 'read_json' : 'read_text', encoding };
  if (config.output === 'rows') return { kind: 'read_rows', form, skip, limit };
  const name = fileName.replace(/\.[^.]*$/, '');
  return { kind: 'split_rows', form, rowsPerFile: config.batch_rows, name };
}

function formFor({ header, sheet, delimiter, encoding }: Config, format: ReadFormat): TableForm | null {
  const form = usualForm(format);
  switch (form?.format) {
    case 'csv':
      return { ...form, header, encoding, delimiter: delimiterOf(delimiter) };
    case 'xlsx':
      return { ...form, header, sheet };
    case 'jsonl':
    case 'ical':
      return { ...form, encoding };
    default:
      return null;
  }
}
