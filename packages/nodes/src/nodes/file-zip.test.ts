import type { JsonObject } from '@millrace/engine';
import { runNode } from '@millrace/node-kit/testing';
import { memoryFiles } from '@millrace/node-kit/testing-files';
import { describe, expect, it } from 'vitest';
import { fileZip } from './file-zip.ts';

const orders = { $file: '00000000-0000-4000-8000-000000000001' };
const made = { $file: '00000000-0000-4000-8000-000000000101' };

describe('file.zip', () => {
  it('makes an archive that it lists and extracts', async () => {
    const files = memoryFiles();
    const run = async (config: JsonObject) =>
      (await runNode(fileZip, { config, services: { files } })).result;
    expect(await run({ operation: 'make', files: [orders, orders] })).toMatchObject({
      output: {
        file: { name: 'files.zip', type: 'application/zip' },
        paths: ['orders.csv', 'orders (2).csv'],
      },
    });
    expect(await run({ operation: 'list', file: made, limit: 1 })).toMatchObject({
      output: { entries: [{ path: 'orders.csv', size: 37 }], count: 2, has_more: true },
    });
    expect(await run({ operation: 'extract', file: made, names: ['*(2)*'] })).toMatchObject({
      output: { files: [{ name: 'orders (2).csv', size: 37 }], count: 1 },
    });
    expect(await run({ operation: 'extract', file: made, max_bytes: 73 })).toMatchObject({
      code: 'document_too_complex',
    });
  });

  it('refuses files that are no list', async () => {
    const { result } = await runNode(fileZip, { config: { operation: 'make', files: orders } });
    expect(result).toMatchObject({ code: 'invalid_config' });
  });
});
