import { success } from '@millrace/engine';
import { choice } from '@millrace/node-kit/choice';
import { checkedNode } from '@millrace/node-kit/define';
import { Type } from 'typebox';
import { FILE_NODE_TIMEOUT_MS, fileProperty, fileTimeoutProperty } from '../files/config.ts';
import { workOn } from '../files/work-on.ts';

const properties = {
  file: fileProperty('The PDF file, usually a template such as {{trigger.data.file}}.'),
  output: choice(
    'Output',
    'Text: one text, with an empty line between pages. Pages: a list with the text of each.',
    { text: 'Text', pages: 'Pages' },
    { default: 'text' },
  ),
  skip: Type.Integer({
    title: 'Skip',
    description: 'Pages to leave out at the beginning.',
    minimum: 0,
    maximum: 1_000_000,
    default: 0,
  }),
  limit: Type.Integer({
    title: 'Limit',
    description:
      'The maximum number of pages. has_more in the output says whether the file has further ones.',
    minimum: 1,
    maximum: 5_000,
    default: 500,
  }),
  timeout_ms: fileTimeoutProperty,
};

export const filePdfText = checkedNode({
  type: 'file.pdf_text',
  title: 'Read text of PDF',
  description:
    'Reads the text of a PDF file of up to 64 MiB. Scanned pages have none, since pictures are not read. Files with a password are refused. The output is {text} or {pages}, with page_count, has_more, and what the file says of itself in info.',
  icon: 'file-text',
  kind: 'effect',
  properties,
  required: ['file'],
  defaultTimeoutMs: FILE_NODE_TIMEOUT_MS,
  form: {
    main: ['file', 'output', 'skip', 'limit'],
    sections: [{ title: 'Limits', fields: ['timeout_ms'] }],
  },
  synonyms: ['pdf', 'extract from pdf', 'read pdf', 'invoice', 'document text', 'parse pdf'],
  examples: [
    {
      title: 'Text of an invoice',
      config: { file: '{{trigger.data.file}}' },
      trigger: { file: { $file: '00000000-0000-4000-8000-000000000004', name: 'invoice.pdf' } },
      expect: {
        output: { page_count: 1, has_more: false, info: { title: 'Invoice 17' }, text: 'Total: 42.00' },
      },
    },
    {
      title: 'What is not a PDF file',
      config: { file: '{{trigger.data.file}}' },
      trigger: { file: { $file: '00000000-0000-4000-8000-000000000002' } },
      expect: { failure: { code: 'invalid_data' } },
    },
  ],
  async run(config, context) {
    const { output, skip, limit, timeout_ms: timeoutMs } = config;
    const file = await context.files.open(config.file);
    return success(await workOn({ kind: 'pdf_text', output, skip, limit }, [file], timeoutMs, context));
  },
});
