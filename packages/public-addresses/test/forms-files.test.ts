import { randomUUID } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@millrace/engine';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorkingService, type WorkingService } from '../../runtime/test/worker/service-with-worker.ts';
import { CONTACT, createFormIn, executionsIn, hiddenIn, type Page, read, submit } from './forms-calls.ts';

const MIB = 1024 * 1024;
/** Of all bodies that the process holds. */
const BUDGET = 2 * MIB;

let service: WorkingService;
beforeAll(async () => {
  service = await startWorkingService({
    limits: { requestsPerMinutePerWebhook: 0, bodyBudgetBytes: BUDGET },
  });
});
afterAll(() => service.stop());

const PAPERS = {
  ...CONTACT,
  fields: [
    { label: 'Name', name: 'person', type: 'text', required: true },
    { label: 'Letters', name: 'letters', type: 'file', accept: '.pdf', multiple: true },
    { label: 'Photo', name: 'photo', type: 'file' },
  ],
};

const createForm = (changes: JsonObject = {}) => createFormIn(service, { ...PAPERS, ...changes });

/** Every row, whatever became of its file. */
const rows = () =>
  service.database.db.query<{ state: string; is_used: boolean; is_due: boolean }>(
    `SELECT state, EXISTS (SELECT FROM execution_files r WHERE r.file_id = f.id) AS is_used, sweep_at IS NOT NULL AS is_due
     FROM files f ORDER BY created_at`,
  );

/** Of the files that are arriving, the bytes of the largest one that lie in the store already. */
async function mostBytesBeingWritten(): Promise<number> {
  const { folder } = service.deps.config.files;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const parts = entries.filter(({ name }) => name.endsWith('.part'));
  const stats = await Promise.all(parts.map(({ parentPath, name }) => stat(join(parentPath, name))));
  return Math.max(0, ...stats.map(({ size }) => size));
}

const pdf = (name = 'a.pdf', content = '%PDF') => new File([content], name, { type: 'application/pdf' });

function filled(page: Page, files: { readonly [field: string]: readonly File[] }, person = 'Ada'): FormData {
  const data = new FormData();
  for (const [name, value] of hiddenIn(page)) data.append(name, value);
  data.append('person', person);
  for (const [field, each] of Object.entries(files)) for (const file of each) data.append(field, file);
  return data;
}

describe('files of a form', () => {
  test('belong to the execution once the submission is accepted, larger than everything that is held in memory', async () => {
    const { id, url } = await createForm();
    const before = await rows();
    const large = 'x'.repeat(11 * MIB);
    const data = filled(await read(url), { letters: [pdf('a.pdf', large), pdf('b.pdf')], photo: [] });
    expect((await submit(url, data)).status).toBe(303);
    expect(await executionsIn(service, id)).toMatchObject([
      {
        status: 'completed',
        input_data: {
          person: 'Ada',
          letters: [
            { name: 'a.pdf', type: 'application/pdf', size: large.length },
            { name: 'b.pdf', size: 4 },
          ],
          photo: null,
        },
      },
    ]);
    expect((await rows()).slice(before.length).map((row) => row.is_used)).toEqual([true, true]);
  });

  test.each<[string, number, (page: Page) => FormData]>([
    ['a field is empty', 422, (page) => filled(page, { photo: [pdf()] }, '')],
    [
      'a file is of a type that is not accepted',
      422,
      (page) => filled(page, { letters: [pdf(), pdf('b.exe')] }),
    ],
    ['a field has too many', 422, (page) => filled(page, { photo: [pdf(), pdf('b.pdf')] })],
    [
      'there are too many of all',
      400,
      (page) => filled(page, { letters: Array.from({ length: 21 }, () => pdf()) }),
    ],
    [
      'a program has filled in everything',
      303,
      (page) => {
        const data = filled(page, { photo: [pdf()] });
        data.append('_website', 'https://spam.example');
        return data;
      },
    ],
    [
      'the reader goes back',
      200,
      (page) => {
        const data = filled(page, { photo: [pdf()] });
        data.append('_back', '1');
        return data;
      },
    ],
  ])('leave nothing where %s', async (_what, status, fill) => {
    const { id, url } = await createForm();
    const before = await rows();
    expect((await submit(url, fill(await read(url)))).status).toBe(status);
    expect(await rows()).toEqual(before);
    expect(await executionsIn(service, id)).toEqual([]);
  });

  test('that no field asks for are dropped', async () => {
    const { id, url } = await createForm();
    const before = await rows();
    const data = filled(await read(url), { other: [pdf()], person: [pdf()] });
    expect((await submit(url, data)).status).toBe(422);
    const more = filled(await read(url), { other: [pdf('a.pdf', 'x'.repeat(MIB))] });
    expect((await submit(url, more)).status).toBe(303);
    expect(await rows()).toEqual(before);
    expect(await executionsIn(service, id)).toMatchObject([{ input_data: { person: 'Ada', letters: [] } }]);
  });

  test('of a submission that came before are deleted at once', async () => {
    const { id, url } = await createForm();
    const page = await read(url);
    const sent = () => submit(url, filled(page, { photo: [pdf()] }));
    expect((await sent()).status).toBe(303);
    const after = await rows();
    expect((await sent()).status).toBe(303);
    expect(await rows()).toEqual(after);
    expect(await executionsIn(service, id)).toHaveLength(1);
  });

  test('are stored no more often than the form may be submitted, whatever else is wrong', async () => {
    const { id, url } = await createForm({ submissions_per_minute: 2 });
    const page = await read(url);
    expect((await submit(url, filled(page, { photo: [pdf()] }, ''))).status).toBe(422);
    expect((await submit(url, filled(page, { photo: [pdf()] }))).status).toBe(303);
    const after = await rows();
    const refused = await submit(url, filled(page, { photo: [pdf('a.pdf', 'x'.repeat(MIB))] }, 'Grace'));
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.html).toContain('value="Grace"');
    expect(refused.html).toContain('choose them again');
    expect(await rows()).toEqual(after);
    expect(await executionsIn(service, id)).toHaveLength(1);
  });

  test('that are too large, or exceed the storage of the organisation, leave nothing, and the form stays filled in', async () => {
    const folder = join(tmpdir(), `millrace-files-${randomUUID()}`);
    const files = { ...service.deps.config.files, folder, maxBytes: 1_000, organisationBytes: 1_500 };
    const small = await startWorkingService({ config: { files } });
    const { id, url } = await createFormIn(small, { ...PAPERS, submissions_per_minute: 0 });
    const send = async (bytes: number) =>
      submit(url, filled(await read(url), { photo: [pdf('a.pdf', 'x'.repeat(bytes))] }));
    const tooLarge = await send(1_001);
    expect(tooLarge.status).toBe(413);
    expect(tooLarge.html).toContain('a.pdf is too large. Choose a smaller file.');
    expect((await send(900)).status).toBe(303);
    const full = await send(900);
    expect([full.status, full.headers.get('retry-after')]).toEqual([429, '600']);
    for (const { html } of [tooLarge, full]) expect(html).toContain('value="Ada"');
    expect(await executionsIn(small, id)).toHaveLength(1);
    expect(await small.database.db.query('SELECT size FROM files')).toEqual([{ size: 900 }]);
    await small.stop();
  });

  test('that are cut off leave nothing; until then, the sweep would find what has arrived', async () => {
    const { id, url } = await createForm();
    const before = await rows();
    const part = (name: string) =>
      `--x\r\nContent-Disposition: form-data; name="${name}"; filename="a.pdf"\r\n\r\n%PDF`;
    const sending = httpRequest(url, {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
    });
    sending.on('error', () => {});
    sending.write(`${part('photo')}\r\n${part('letters')}`);
    sending.write('x'.repeat(BUDGET + MIB));
    await expect
      .poll(async () => (await rows()).slice(before.length))
      .toEqual([
        { state: 'stored', is_used: false, is_due: true },
        { state: 'writing', is_used: false, is_due: true },
      ]);
    await expect.poll(mostBytesBeingWritten).toBeGreaterThan(BUDGET);
    sending.destroy();
    await expect.poll(rows).toEqual(before);
    expect(await executionsIn(service, id)).toEqual([]);
  });

  test('of a paused organisation are not stored, and what was entered is kept on the page', async () => {
    const { id, url } = await createForm();
    const page = await read(url);
    const { db } = service.database;
    const before = await rows();
    await db.query('UPDATE organisations SET paused_at = now() WHERE id = $1', [service.key.organisationId]);
    const refused = await submit(url, filled(page, { photo: [pdf()] }));
    await db.query('UPDATE organisations SET paused_at = NULL WHERE id = $1', [service.key.organisationId]);
    expect(refused.status).toBe(503);
    expect(refused.html).toContain('value="Ada"');
    expect(await rows()).toEqual(before);
    expect(await executionsIn(service, id)).toEqual([]);
  });
});
