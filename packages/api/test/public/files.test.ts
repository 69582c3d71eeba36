import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sweepFiles } from '@millrace/files/sweep';
import { send } from '@millrace/testing/api';
import { RUNNABLE_FLOW } from '@millrace/testing/flows';
import { startTestService, type TestKey, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let service: TestService;
let key: TestKey;
beforeAll(async () => {
  service = await startTestService({ runsWorker: false });
  key = await service.createKey();
});
afterAll(() => service.stop());

const TEXT = 'Rechnung Nr. 17';
const SHA256 = createHash('sha256').update(TEXT).digest('hex');

/** Uploads a body. */
function upload(
  raw: string | Uint8Array<ArrayBuffer>,
  {
    name = 'rechnung.txt',
    type = 'text/plain',
    by = key,
  }: { name?: string; type?: string; by?: TestKey } = {},
) {
  return service.api('POST', `/files?name=${encodeURIComponent(name)}`, {
    key: by,
    raw,
    headers: { 'content-type': type },
  });
}

async function uploaded(...args: Parameters<typeof upload>): Promise<string> {
  const answer = await upload(...args);
  expect(answer.status).toBe(201);
  return String(answer.json.$file);
}

/** Downloads without comparing the type with the OpenAPI document, which allows any. */
const download = (
  id: string,
  headers: { readonly [name: string]: string } = {},
  method: 'GET' | 'HEAD' = 'GET',
) => send(`${service.url}/api/v1/files/${id}`, method, { key, headers });

const isStored = async () =>
  (await service.database.db.query<{ state: string }>('SELECT state FROM files')).map(({ state }) => state);

/** The settings of another service, which needs a folder of its own. */
function filesWith(changes: Partial<TestService['deps']['config']['files']>) {
  const folder = join(tmpdir(), `millrace-files-${randomUUID()}`);
  return { ...service.deps.config.files, folder, ...changes };
}

describe('POST /files', () => {
  test('201: the body becomes a file', async () => {
    const { status, json } = await upload(TEXT);
    expect(status).toBe(201);
    expect(json).toEqual({
      $file: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'rechnung.txt',
      type: 'text/plain',
      size: 15,
      sha256: SHA256,
    });
  });

  test('201: a part of a form becomes a file, and other parts are ignored', async () => {
    const form = new FormData();
    form.append('note', 'ignored');
    form.append('file', new Blob([TEXT], { type: 'application/x-invoice' }), 'Rechnung März.txt');
    const body = new Response(form);
    const answer = await service.api('POST', '/files', {
      key,
      raw: new Uint8Array(await body.arrayBuffer()),
      headers: { 'content-type': body.headers.get('content-type') ?? '' },
    });
    expect(answer.json).toMatchObject({
      name: 'Rechnung März.txt',
      type: 'application/x-invoice',
      size: 15,
      sha256: SHA256,
    });
  });

  test('201: a part is a file if it is bytes without a name; what else there is may be large, and has no say', async () => {
    const part = (about: string, content: string) =>
      `--b\r\nContent-Disposition: form-data${about}\r\n\r\n${content}\r\n`;
    const raw = [
      part('; name="note"', 'x'.repeat(200_000)),
      part('', 'without a name'),
      part('; name="other"; filename="b"', 'x'.repeat(200_000)).repeat(30),
      part('; name="file"\r\nContent-Type: application/octet-stream', TEXT),
      '--b--',
    ].join('');
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const { status, json } = await service.api('POST', '/files', { key, raw, headers });
    expect([status, json]).toEqual([
      201,
      expect.objectContaining({ name: 'file', size: 15, sha256: SHA256 }),
    ]);
  });

  test.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\data\\list.csv', 'list.csv'],
    ['..', 'file'],
    ['', 'file'],
    ['in\u202Evoice\u0007.pdf', 'invoice.pdf'],
    ['x'.repeat(300), 'x'.repeat(255)],
  ])('201: the name %j is kept as %j', async (name, kept) => {
    expect((await upload(TEXT, { name })).json.name).toBe(kept);
  });

  test.each([
    ['TEXT/CSV; charset=utf-8', 'text/csv; charset=utf-8'],
    ['a/b; charset="', 'application/octet-stream'],
    ['application/json', 'application/json'],
  ])('201: the type %j is kept as %j', async (type, kept) => {
    expect((await upload('{not json', { type })).json.type).toBe(kept);
  });

  test('201: an empty file, and one of several megabytes', async () => {
    expect((await upload('')).json.size).toBe(0);
    const large = randomBytes(3_000_000);
    const id = await uploaded(new Uint8Array(large));
    const response = await fetch(`${service.url}/api/v1/files/${id}`, {
      headers: { authorization: `Bearer ${key.text}` },
    });
    expect(Buffer.from(await response.arrayBuffer()).equals(large)).toBe(true);
  });

  test('400: no file, two files, and a form that breaks off leave nothing', async () => {
    const before = await isStored();
    expect((await service.api('POST', '/files', { key })).json.code).toBe('invalid_body');
    const part = (name: string) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"; filename="a"\r\n\r\nabc\r\n`;
    const post = (raw: string) =>
      service.api('POST', '/files', {
        key,
        raw,
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
      });
    const unchosen = '--b\r\nContent-Disposition: form-data; name="file"; filename=""\r\n\r\n\r\n--b--';
    for (const raw of [
      unchosen,
      `${part('other')}--b--`,
      `${part('file')}${part('file')}--b--`,
      part('file'),
      'x',
    ]) {
      const answer = await post(raw);
      expect([raw, answer.status, answer.json.code]).toEqual([raw, 400, 'invalid_body']);
    }
    expect(await isStored()).toEqual(before);
  });

  test('400: a connection that ends before the file leaves nothing', async () => {
    const before = await isStored();
    const sending = httpRequest(`${service.url}/api/v1/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key.text}`, 'content-type': 'a/b', 'content-length': '100' },
    });
    sending.on('error', () => {});
    sending.write('abc');
    await expect.poll(isStored).toEqual([...before, 'writing']);
    sending.destroy();
    await expect.poll(isStored).toEqual(before);
  });

  test('403: without the scope', async () => {
    const by = await service.createKey({ scopes: ['executions:read'] });
    expect((await upload(TEXT, { by })).status).toBe(403);
  });

  test('413: too large, with and without a declared length; the sender gets the response', async () => {
    const small = await startTestService({
      runsWorker: false,
      config: { files: filesWith({ maxBytes: 1_000 }) },
    });
    const own = await small.createKey();
    const headers = { 'content-type': 'a/b' };
    const declared = await small.api('POST', '/files', { key: own, raw: 'x'.repeat(200_000), headers });
    expect([declared.status, declared.json.code]).toEqual([413, 'file_too_large']);
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sending = httpRequest(
        `${small.url}/api/v1/files`,
        { method: 'POST', headers: { ...headers, authorization: `Bearer ${own.text}` } },
        resolve,
      );
      sending.on('error', reject);
      for (let part = 0; part < 40; part += 1) sending.write('x'.repeat(5_000));
      sending.end();
    });
    response.resume();
    expect(response.statusCode).toBe(413);
    expect(await small.database.db.query('SELECT FROM files')).toEqual([]);
    await small.stop();
  });

  test('429: the storage of the organisation is full', async () => {
    const small = await startTestService({
      runsWorker: false,
      config: { files: filesWith({ organisationBytes: 10 }) },
    });
    const own = await small.createKey();
    const post = () =>
      small.api('POST', '/files', { key: own, raw: 'four!!', headers: { 'content-type': 'a/b' } });
    expect((await post()).status).toBe(201);
    const refused = await post();
    expect([refused.status, refused.json.code, refused.headers.get('retry-after')]).toEqual([
      429,
      'storage_full',
      '600',
    ]);
    await small.stop();
  });
});

describe('GET /files/{id}', () => {
  test('200: an attachment that no browser runs', async () => {
    const id = await uploaded('<script>alert(1)</script>', { name: 'seite "ü".html', type: 'text/html' });
    const { status, text, headers } = await download(id);
    expect([status, text]).toEqual([200, '<script>alert(1)</script>']);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html',
      'content-length': '25',
      'content-disposition': expect.stringMatching(
        /^attachment; filename="seite .*filename\*=UTF-8''seite%20/,
      ),
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'accept-ranges': 'bytes',
    });
  });

  test('200: HEAD describes it', async () => {
    const id = await uploaded(TEXT);
    const { status, text, headers } = await download(id, { range: 'bytes=0-1' }, 'HEAD');
    expect([status, text, headers.get('content-length'), headers.get('etag')]).toEqual([
      200,
      '',
      '15',
      `"${SHA256}"`,
    ]);
  });

  test.each([
    ['bytes=0-0', 'R', 'bytes 0-0/15'],
    ['bytes=9-', 'Nr. 17', 'bytes 9-14/15'],
    ['bytes=-2', '17', 'bytes 13-14/15'],
    ['bytes=-99', TEXT, 'bytes 0-14/15'],
    ['bytes=13-99', '17', 'bytes 13-14/15'],
  ])('206: %s', async (range, part, contentRange) => {
    const id = await uploaded(TEXT);
    const { status, text, headers } = await download(id, { range });
    expect([status, text, headers.get('content-range')]).toEqual([206, part, contentRange]);
  });

  test.each(['bytes=5-2', 'bytes=0-1,3-4', 'lines=1-2', 'bytes=-', 'x'])(
    '200: %s is no range',
    async (range) => {
      const id = await uploaded(TEXT);
      expect((await download(id, { range })).text).toBe(TEXT);
    },
  );

  test('If-Range: only a range of the same content', async () => {
    const id = await uploaded(TEXT);
    const range = 'bytes=0-0';
    expect((await download(id, { range, 'if-range': `"${SHA256}"` })).status).toBe(206);
    expect((await download(id, { range, 'if-range': '"other"' })).status).toBe(200);
  });

  test.each(['bytes=15-', 'bytes=-0', 'bytes=99-100'])('416: %s begins after the end', async (range) => {
    const id = await uploaded(TEXT);
    const answer = await service.api('GET', `/files/${id}`, { key, headers: { range } });
    expect([answer.status, answer.json.code, answer.headers.get('content-range')]).toEqual([
      416,
      'range_not_satisfiable',
      'bytes */15',
    ]);
  });

  test('403: without the scope', async () => {
    const by = await service.createKey({
      organisationId: key.organisationId,
      scopes: ['executions:execute'],
    });
    expect((await service.api('GET', `/files/${await uploaded(TEXT)}`, { key: by })).status).toBe(403);
  });

  test('404: of another organisation, unknown or invalid, all the same', async () => {
    const other = await service.createKey();
    const id = await uploaded(TEXT, { by: other });
    const answers = [];
    for (const path of [id, '00000000-0000-4000-8000-000000000000', '17', '%2e%2e%2fetc']) {
      const { status, json } = await service.api('GET', `/files/${path}`, { key });
      answers.push({ ...json, status, instance: '', request_id: '' });
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 404, code: 'not_found' });
  });

  test('503: its content is gone', async () => {
    const id = await uploaded(TEXT);
    await service.deps.store.delete(id);
    const answer = await service.api('GET', `/files/${id}`, { key });
    expect([answer.status, answer.json.code]).toEqual([503, 'file_store_unavailable']);
  });
});

describe('input_data with files', () => {
  async function startWith(input: object, by = key) {
    const workflow = await service.api('POST', '/workflows', {
      key: by,
      body: { name: 'x', flow_data: RUNNABLE_FLOW },
    });
    return service.api('POST', `/workflows/${workflow.json.id}/execute`, {
      key: by,
      body: { input_data: input },
    });
  }

  test('202: they stay as long as the execution', async () => {
    const value = (await upload(TEXT)).json;
    const started = await startWith({ invoices: [{ pdf: value }] });
    expect(started.status).toBe(202);
    const { db } = service.database;
    await db.query('UPDATE files SET sweep_at = now() WHERE id = $1', [value.$file]);
    const { store, log } = service.deps;
    await sweepFiles({ db, store, log });
    expect((await download(String(value.$file))).text).toBe(TEXT);
    const detail = await service.api('GET', `/executions/${started.json.execution_id}`, { key });
    expect(detail.json.input_data).toEqual({ invoices: [{ pdf: value }] });
  });

  test('422: a file that is unknown, or of another organisation', async () => {
    const other = await service.createKey();
    const id = await uploaded(TEXT, { by: other });
    const answer = await startWith({ 'a/b': [1, { $file: id }] });
    expect([answer.status, answer.json.errors]).toMatchObject([
      422,
      [{ pointer: '/input_data/a~1b/1', code: 'file_not_found' }],
    ]);
  });
});
