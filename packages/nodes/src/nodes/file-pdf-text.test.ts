import { runNode } from '@millrace/node-kit/testing';
import { memoryFiles } from '@millrace/node-kit/testing-files';
import { pdfFile } from '@millrace/testing/pdf';
import { expect, test } from 'vitest';
import { filePdfText } from './file-pdf-text.ts';

test('reads some pages of a file, as a list', async () => {
  const files = memoryFiles();
  const source = (async function* () {
    yield pdfFile(['one', 'two', 'three']);
  })();
  const file = await files.save({ name: 'a.pdf', type: 'application/pdf' }, source);
  const config = { file, output: 'pages', skip: 1, limit: 1 };
  const { result } = await runNode(filePdfText, { config, services: { files } });
  expect(result).toMatchObject({ output: { pages: ['two'], page_count: 3, has_more: true } });
});
