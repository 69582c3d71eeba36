import { type ContentTask, type JsonObject, success } from '@millrace/engine';
import { runNode } from '@millrace/node-kit/testing';
import { memoryFiles } from '@millrace/node-kit/testing-files';
import { describe, expect, it } from 'vitest';
import { fileRead } from './file-read.ts';

/** The task that reading a file of this name and type is. */
async function taskFor(
  name: string,
  type: string,
  config: JsonObject = {},
): Promise<ContentTask | undefined> {
  const files = memoryFiles();
  const file = await files.save({ name, type }, contentOf('x'));
  let asked: ContentTask | undefined;
  const contents = {
    async work({ task }: { readonly task: ContentTask }) {
      asked = task;
      return {};
    },
  };
  await runNode(fileRead, { config: { file, ...config }, services: { files, contents } });
  return asked;
}

async function* contentOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

describe('file.read', () => {
  it.each([
    ['a.CSV', 'text/plain', 'csv'],
    ['a.tsv', 'application/octet-stream', 'csv'],
    ['a.xlsx', 'application/octet-stream', 'xlsx'],
    ['a.ndjson', 'application/octet-stream', 'jsonl'],
    ['file', 'text/csv; charset=utf-8', 'csv'],
    ['file', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ])('takes %s of type %s for %s', async (name, type, format) => {
    expect(await taskFor(name, type)).toMatchObject({ kind: 'read_rows', form: { format } });
  });

  it.each([
    ['a.json', 'text/plain', 'read_json'],
    ['file', 'application/problem+json', 'read_json'],
    ['a.html', 'text/html', 'read_text'],
    ['file', 'application/octet-stream', 'read_text'],
  ])('takes %s of type %s for a whole: %s', async (name, type, kind) => {
    expect(await taskFor(name, type)).toMatchObject({ kind });
  });

  it('reads the bytes of any file, if it is to', async () => {
    expect(await taskFor('a.csv', 'text/csv', { format: 'base64' })).toEqual({ kind: 'read_base64' });
  });

  it('reads as its settings say, whatever the name does', async () => {
    const csv = { format: 'csv', delimiter: 'tab', encoding: 'euc-jp', header: false, skip: 2, limit: 3 };
    expect(await taskFor('a.xlsx', 'x/y', csv)).toEqual({
      kind: 'read_rows',
      form: { format: 'csv', delimiter: '\t', encoding: 'euc-jp', header: false },
      skip: 2,
      limit: 3,
    });
    expect(await taskFor('a.b.xlsx', 'x/y', { output: 'batches', batch_rows: 7, sheet: 'S' })).toEqual({
      kind: 'split_rows',
      form: { format: 'xlsx', sheet: 'S', header: true },
      rowsPerFile: 7,
      name: 'a.b',
    });
  });

  it('splits a table into files that it reads again', async () => {
    const files = memoryFiles();
    const orders = { $file: '00000000-0000-4000-8000-000000000001' };
    const run = async (config: JsonObject) =>
      (await runNode(fileRead, { config, services: { files } })).result;
    const split = await run({ file: orders, output: 'batches', batch_rows: 2 });
    expect(split).toMatchObject({ output: { count: 3, files: [{ name: 'orders-0001.jsonl' }, {}] } });
    const second = { $file: '00000000-0000-4000-8000-000000000102' };
    expect(await run({ file: second })).toEqual(
      success({ format: 'jsonl', count: 1, has_more: false, rows: [{ id: '19', customer: 'Cy' }] }),
    );
  });

  it('fails for a file that the execution does not have', async () => {
    const file = { $file: '00000000-0000-4000-8000-000000000999' };
    const { result } = await runNode(fileRead, { config: { file } });
    expect(result).toMatchObject({ kind: 'failure', code: 'file_not_found' });
  });
});
