import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible } from './support/accessible.ts';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';

let world: BrowserService;
let person: TestPerson;
beforeAll(async () => {
  world = await openBrowserService();
  person = await createPerson(world.service, 'editor');
});
afterAll(() => world.stop());

/** One red pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'base64',
);

/** A PDF file whose pages have a black bar on white, and a script that would run when it is opened. */
function pdfOf(pages: number): Buffer {
  const content = '0 0 0 rg 10 10 80 30 re f';
  const numbers = Array.from({ length: pages }, (_, at) => 4 + at);
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (app.alert(1)) >> >>',
    `<< /Type /Pages /Count ${pages} /Kids [${numbers.map((number) => `${number} 0 R`).join(' ')}] >>`,
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    ...numbers.map(() => '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 50] /Contents 3 0 R >>'),
  ];
  const parts = objects.map((text, at) => `${at + 1} 0 obj\n${text}\nendobj\n`);
  return Buffer.from(`%PDF-1.7\n${parts.join('')}trailer << /Root 1 0 R >>\n%%EOF\n`);
}

interface Made {
  readonly name: string;
  readonly type: string;
  readonly content: string | Buffer;
}

/** Starts a workflow with these files, which it passes on. @returns the execution's id */
async function startWith(files: readonly Made[]): Promise<number> {
  const { service } = world;
  const { organisationId } = person;
  const values = [];
  for (const { content, ...file } of files) {
    const described = { organisationId, executionId: null, declaredBytes: null, ...file };
    values.push(await service.deps.files.save(described, Readable.from([Buffer.from(content)])));
  }
  const key = await service.createKey({ organisationId });
  const flow = {
    nodes: [
      { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 }, data: {} },
      {
        id: 'pass',
        type: 'core.set',
        position: { x: 260, y: 0 },
        data: { config: { values: { files: '{{trigger.data.files}}' } } },
      },
    ],
    edges: [{ source: 'start', target: 'pass' }],
  };
  const created = await service.api('POST', '/workflows', { key, body: { name: 'Files', flow_data: flow } });
  const started = await service.api('POST', `/workflows/${created.json.id}/execute`, {
    key,
    body: { input_data: { files: values } },
  });
  const id = started.json.execution_id;
  await service.api('GET', `/executions/${id}?wait=30`, { key });
  return id;
}

const FILES: readonly Made[] = [
  { name: 'logo.png', type: 'image/png', content: PNG },
  { name: 'invoice.pdf', type: 'application/pdf', content: pdfOf(12) },
  {
    name: 'orders.csv',
    type: 'text/csv',
    content: `id,customer\n${Array.from({ length: 300 }, (_, n) => `${n},Ada <b>${n}</b>`).join('\n')}`,
  },
  { name: 'order.json', type: 'application/json', content: '{"total": 12345678901234567890}' },
  { name: 'page.html', type: 'text/html', content: '<script>document.title = "run"</script>' },
  { name: 'data.zip', type: 'application/zip', content: 'PK' },
];

const dialog = (page: Page) => page.getByRole('dialog');
async function preview(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: `Preview ${name}` }).click();
  await dialog(page).getByRole('heading', { name }).waitFor();
}
async function close(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await dialog(page).waitFor({ state: 'detached' });
}

test('files in an input are listed, looked at and saved', async () => {
  const id = await startWith(FILES);
  const opened = await world.openFor(person, `executions/${id}`);
  const { page } = opened;
  const list = page.getByRole('list', { name: '6 files' });
  await list.getByText('image/png · 69 bytes').waitFor();
  expect(await list.getByRole('listitem').count()).toBe(6);
  expect(await page.getByRole('button', { name: 'Preview data.zip' }).count()).toBe(0);

  await preview(page, 'logo.png');
  const picture = dialog(page).getByRole('img', { name: 'logo.png' });
  await expect.poll(() => picture.evaluate((each) => (each as HTMLImageElement).naturalWidth)).toBe(1);
  await close(page);

  await preview(page, 'invoice.pdf');
  await dialog(page).getByText('The first 10 of 12 pages').waitFor();
  await dialog(page).getByRole('img', { name: 'Page 10 of 12' }).waitFor();
  const drawn = await dialog(page)
    .getByRole('img', { name: 'Page 1 of 12' })
    .evaluate((each) => {
      const canvas = each as HTMLCanvasElement;
      const pixels = canvas.getContext('2d');
      const at = (x: number, y: number) =>
        pixels?.getImageData(canvas.width * x, canvas.height * y, 1, 1).data[0];
      return [canvas.width, at(0.5, 0.5), at(0.02, 0.02)];
    });
  expect(drawn).toEqual([1_200, 0, 255]);
  await close(page);

  await preview(page, 'orders.csv');
  await dialog(page).getByText('Only the beginning is shown').waitFor();
  expect(await dialog(page).getByRole('row').count()).toBe(201);
  await dialog(page).getByRole('cell', { name: 'Ada <b>199</b>' }).waitFor();
  await close(page);

  await preview(page, 'order.json');
  await dialog(page).getByRole('treeitem').getByText('12345678901234567890').waitFor();
  await close(page);

  await preview(page, 'page.html');
  await dialog(page).getByText('<script>document.title').waitFor();
  expect(await page.title()).not.toBe('run');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog(page).getByRole('link', { name: 'Download' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('page.html');
  expect(await readFile(await download.path(), 'utf8')).toBe(FILES[4]?.content);
  expectNoComplaints(opened);
});

test('an output lists its files, and says which of them the execution has not', async () => {
  const id = await startWith([{ name: 'a.txt', type: 'text/plain', content: 'text' }]);
  const { page } = await world.openFor(person, `executions/${id}?node=pass`);
  await page.getByRole('list', { name: '1 file' }).getByText('a.txt').waitFor();
  const { organisationId } = person;
  const upload = {
    organisationId,
    executionId: null,
    name: 'b.txt',
    type: 'text/plain',
    declaredBytes: null,
  };
  const other = await world.service.deps.files.save(upload, Readable.from([Buffer.from('other')]));
  const made = await startMadeUp(other.$file);
  await page.goto(`${world.url}/o/${person.organisationId}/executions/${made}?node=made`);
  await page.getByText("doesn't belong to this execution").waitFor();
});

/** An execution whose output names a file that it wasn't given. */
async function startMadeUp(file: string): Promise<number> {
  const { service } = world;
  const key = await service.createKey({ organisationId: person.organisationId });
  const flow = {
    nodes: [
      { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 }, data: {} },
      {
        id: 'made',
        type: 'core.set',
        position: { x: 260, y: 0 },
        data: { config: { values: { file: { $file: file, name: 'made-up.txt' } } } },
      },
    ],
    edges: [{ source: 'start', target: 'made' }],
  };
  const created = await service.api('POST', '/workflows', { key, body: { name: 'Files', flow_data: flow } });
  const { json } = await service.api('POST', `/workflows/${created.json.id}/execute`, { key, body: {} });
  await service.api('GET', `/executions/${json.execution_id}?wait=30`, { key });
  return json.execution_id;
}

test('files that can not be shown say why', async () => {
  const encrypted = pdfOf(1)
    .toString()
    .replace(
      'trailer <<',
      `trailer << /ID [<00> <00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <${'00'.repeat(32)}> /U <${'00'.repeat(32)}> >>`,
    );
  const id = await startWith([
    { name: 'broken.png', type: 'image/png', content: 'no picture' },
    { name: 'broken.pdf', type: 'application/pdf', content: 'no document' },
    { name: 'secret.pdf', type: 'application/pdf', content: encrypted },
    { name: 'empty.csv', type: 'text/csv', content: '' },
  ]);
  const opened = await world.openFor(person, `executions/${id}`);
  const { page } = opened;
  for (const name of ['broken.png', 'broken.pdf']) {
    await preview(page, name);
    await dialog(page).getByRole('alert').getByText('It may be damaged').waitFor();
    await close(page);
  }
  await preview(page, 'secret.pdf');
  await dialog(page).getByRole('alert').getByText('protected by a password').waitFor();
  await close(page);
  await preview(page, 'empty.csv');
  await dialog(page).getByRole('table').waitFor({ state: 'attached' });
  expectNoComplaints(opened);
});

test.each([
  ['en', 'light', 1_280],
  ['ja', 'dark', 390],
] as const)('list and dialog are accessible: %s, %s, %i pixels', async (language, scheme, width) => {
  const id = await startWith(FILES);
  const opened = await world.openFor(person, `executions/${id}`, { language, scheme, width, height: 844 });
  const { page } = opened;
  const name = language === 'ja' ? 'orders.csv をプレビュー' : 'Preview orders.csv';
  await page.getByRole('button', { name }).waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name }).click();
  await dialog(page).getByRole('table').waitFor();
  await expectAccessible(page);
  // Only the table scrolls sideways.
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
  expectNoComplaints(opened);
});
