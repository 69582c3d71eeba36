import { type ContentTask, type JsonValue, success } from '@millrace/engine';
import { choice } from '@millrace/node-kit/choice';
import { checkedNode } from '@millrace/node-kit/define';
import { type Static, type TObject, Type } from 'typebox';
import { FILE_NODE_TIMEOUT_MS, fileProperty, fileTimeoutProperty } from '../files/config.ts';
import { openFiles } from '../files/open-files.ts';
import { workOn } from '../files/work-on.ts';

const WHEN_MAKE = { operation: ['make'] };
const WHEN_READ = { operation: ['list', 'extract'] };
const WHEN_EXTRACT = { operation: ['extract'] };
const MIB = 1024 * 1024;

const properties = {
  operation: choice(
    'Operation',
    'Put files into an archive, list what one contains, or make files of its contents.',
    { make: 'Make an archive', list: 'List the contents', extract: 'Extract files' },
    { default: 'make' },
  ),
  files: Type.Unsafe<JsonValue>({
    title: 'Files',
    description: 'The files for the archive, a list. Those of the same name get a number.',
    default: [],
    'x-filled': true,
    'x-when': WHEN_MAKE,
  }),
  name: Type.String({
    title: 'Name',
    description: 'The name of the archive.',
    default: 'files.zip',
    minLength: 1,
    maxLength: 200,
    'x-when': WHEN_MAKE,
  }),
  file: fileProperty('The archive, usually a template such as {{trigger.data.file}}.', {
    'x-when': WHEN_READ,
  }),
  names: Type.Array(Type.String({ minLength: 1, maxLength: 500 }), {
    title: 'Names',
    description: 'Which files to extract, with * for anything: *.csv, invoices/*. Empty: all.',
    default: [],
    maxItems: 100,
    'x-when': WHEN_EXTRACT,
  }),
  limit: Type.Integer({
    title: 'Limit',
    description: 'The maximum number of entries that list shows.',
    minimum: 1,
    maximum: 10_000,
    default: 1_000,
    'x-when': { operation: ['list'] },
  }),
  max_files: Type.Integer({
    title: 'Maximum files',
    description: 'An archive with more of them is refused before anything is extracted.',
    minimum: 1,
    maximum: 1_000,
    default: 100,
    'x-when': WHEN_EXTRACT,
  }),
  max_bytes: Type.Integer({
    title: 'Maximum size',
    description:
      'Of all extracted files together, in bytes. A larger archive is refused before anything is extracted.',
    minimum: 1,
    maximum: 4096 * MIB,
    default: 256 * MIB,
    'x-when': WHEN_EXTRACT,
  }),
  timeout_ms: fileTimeoutProperty,
};

type Config = Static<TObject<typeof properties>>;

export const fileZip = checkedNode({
  type: 'file.zip',
  title: 'ZIP archive',
  description:
    'Makes a ZIP archive of files, lists what an archive contains, or extracts it. Archives with a password are refused. The output is {file, count, paths}, {entries, count, has_more} or {files, paths, count}.',
  icon: 'file-archive',
  kind: 'effect',
  properties,
  required: ['operation'],
  defaultTimeoutMs: FILE_NODE_TIMEOUT_MS,
  form: {
    main: ['operation', 'files', 'name', 'file', 'names'],
    sections: [{ title: 'Limits', fields: ['limit', 'max_files', 'max_bytes', 'timeout_ms'] }],
  },
  synonyms: ['compress', 'decompress', 'unzip', 'archive', 'compression', 'bundle'],
  examples: [
    {
      title: 'Extract tables',
      config: { operation: 'extract', file: '{{trigger.data.file}}', names: ['*.csv'] },
      trigger: { file: { $file: '00000000-0000-4000-8000-000000000003', name: 'orders.zip' } },
      expect: {
        output: {
          files: [
            {
              $file: '00000000-0000-4000-8000-000000000101',
              name: 'july.csv',
              type: 'text/csv; charset=utf-8',
              size: 6,
              sha256: '6ae149f6b0971dfd41b462cf130543fb9e490bc0047ed9053e5b20dada99b943',
            },
          ],
          paths: ['orders/july.csv'],
          count: 1,
        },
      },
    },
    {
      title: "What isn't an archive",
      config: { operation: 'list', file: '{{trigger.data.file}}' },
      trigger: { file: { $file: '00000000-0000-4000-8000-000000000001' } },
      expect: { failure: { code: 'invalid_data' } },
    },
  ],
  async run(config, context) {
    const { files } = context;
    const inputs =
      config.operation === 'make' ? await openFiles(config.files, files) : [await files.open(config.file)];
    return success(await workOn(taskOf(config), inputs, config.timeout_ms, context));
  },
});

function taskOf(config: Config): ContentTask {
  switch (config.operation) {
    case 'make':
      return { kind: 'zip_make', name: config.name };
    case 'list':
      return { kind: 'zip_list', limit: config.limit };
    case 'extract': {
      const { names, max_files: maxFiles, max_bytes: maxBytes } = config;
      return { kind: 'zip_extract', names, maxFiles, maxBytes };
    }
  }
}
