import type { JsonObject } from '@millrace/engine';
import { runNode } from '@millrace/node-kit/testing';
import { memoryFiles } from '@millrace/node-kit/testing-files';
import { describe, expect, it } from 'vitest';
import { fileWrite } from './file-write.ts';

async function write(config: JsonObject) {
  const files = memoryFiles();
  const { result } = await runNode(fileWrite, { config, services: { files } });
  const written = files.stored.get('00000000-0000-4000-8000-000000000101');
  return { result, name: written?.name, type: written?.type, text: written?.content.toString() };
}

describe('file.write', () => {
  it.each([
    [{ format: 'csv', name: 'a' }, 'a.csv', 'text/csv; charset=utf-8'],
    [{ format: 'csv', name: 'a.tsv' }, 'a.tsv', 'text/tab-separated-values; charset=utf-8'],
    [
      { format: 'xlsx', name: 'v1.2' },
      'v1.2.xlsx',
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    ],
    [{ format: 'text', name: 'a.ics', data: 'BEGIN:VCALENDAR' }, 'a.ics', 'text/calendar; charset=utf-8'],
    [{ format: 'text', name: 'a', data: 1 }, 'a.txt', 'text/plain; charset=utf-8'],
    [{ format: 'base64', name: 'a.png', data: '' }, 'a.png', 'image/png'],
    [{ format: 'base64', name: 'a', data: '' }, 'a.bin', 'application/octet-stream'],
  ])('names %j', async (config, name, type) => {
    expect(await write(config)).toMatchObject({ name, type });
  });

  it('writes any value as JSON, and lists with files as one list', async () => {
    expect((await write({ format: 'json', name: 'a', data: { a: [1] } })).text).toBe('{"a":[1]}\n');
    const orders = { $file: '00000000-0000-4000-8000-000000000001' };
    const { text } = await write({ format: 'json', name: 'a', data: [{ id: '1' }], files: [orders] });
    expect((JSON.parse(text ?? '') as JsonObject[]).map(({ id }) => id)).toEqual(['1', '17', '18', '19']);
  });

  it.each([
    ['as it is', 'SGVsbG8sIOS4lueVjD8+'],
    ['of the other alphabet', 'SGVsbG8sIOS4lueVjD8-'],
    ['with line breaks', 'SGVsbG8s\r\nIOS4lueVjD8+\n'],
    ['as a data URL', 'data:text/plain;charset=utf-8;base64,SGVsbG8sIOS4lueVjD8+'],
  ])('decodes base64 %s', async (_how, data) => {
    expect((await write({ format: 'base64', name: 'a.txt', data })).text).toBe('Hello, 世界?>');
  });

  it('decodes base64 of any length, and nothing behind its end', async () => {
    for (const length of [262_143, 393_216, 400_001]) {
      const text = 'x'.repeat(length);
      const data = Buffer.from(text).toString('base64');
      expect((await write({ format: 'base64', name: 'a.txt', data })).text).toBe(text);
    }
    const end = `${'A'.repeat(262_140)}AA==`;
    expect((await write({ format: 'base64', name: 'a', data: `${end}\n` })).text).toHaveLength(196_606);
    for (const data of [`${end}AAAA`, 'AA==AA', 'Hello, world', '%']) {
      const { result } = await write({ format: 'base64', name: 'a', data });
      expect(result, data.slice(-20)).toMatchObject({ code: 'invalid_config' });
    }
  });

  it('adds the rows of files after its own', async () => {
    const orders = { $file: '00000000-0000-4000-8000-000000000001' };
    const { text, result } = await write({
      format: 'csv',
      name: 'a',
      columns: ['customer'],
      data: [{ customer: 'Zoe', id: 1 }],
      files: [orders],
    });
    expect(text).toBe('customer\r\nZoe\r\nAda\r\nBo; Co\r\nCy\r\n');
    expect(result).toMatchObject({ output: { count: 4 } });
  });

  it.each([
    [{ format: 'csv', data: 'a,b' }],
    [{ format: 'csv', files: 'a' }],
    [{ format: 'csv', files: [{ $file: '00000000-0000-4000-8000-000000000002' }] }],
    [{ format: 'csv', files: Array.from({ length: 1_001 }, () => 'x') }],
    [{ format: 'text', data: { a: 1 } }],
  ])('refuses settings %#', async (config) => {
    const { result, name } = await write({ name: 'a', ...config });
    expect([result, name]).toEqual([expect.objectContaining({ code: 'invalid_config' }), undefined]);
  });
});
