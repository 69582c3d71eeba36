import type { JsonObject } from '@millrace/engine';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorkingService, type WorkingService } from '../../runtime/test/worker/service-with-worker.ts';
import { CONTACT, createFormIn, executionsIn, hiddenIn, read, submit, urlIn } from './forms-calls.ts';

let service: WorkingService;
beforeAll(async () => {
  service = await startWorkingService({ limits: { requestsPerMinutePerWebhook: 0 } });
});
afterAll(() => service.stop());

const createForm = (config?: JsonObject, status?: string) => createFormIn(service, config, status);
const urlOf = (id: number) => urlIn(service, id);
const executionsOf = (id: number) => executionsIn(service, id);

const GOOD = {
  email: 'ada@example.com',
  message: 'Hello\r\nthere',
  sacks: '１２３４５６７８９０１２３４５６７８９',
  topic: 'Other & more',
};

describe('the page', () => {
  test('shows the fields, escaped, and runs nothing', async () => {
    const { url } = await createForm();
    const page = await read(url);
    expect(page.status).toBe(200);
    expect(page.html).toContain('<h1>Contact &lt;us&gt;</h1>');
    expect(page.html).toContain('As &quot;long&quot; as you like');
    expect(page.html).toContain('value="Other &amp; more"');
    expect(page.html).not.toMatch(/<script|onerror|javascript:/i);
    const policy = page.headers.get('content-security-policy');
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(page.headers.get('cache-control')).toBe('no-store');
  });

  test('is in the language that the browser asks for', async () => {
    const { url } = await createForm();
    const page = await read(url, { 'accept-language': 'ja' });
    expect(page.html).toContain('<html lang="ja">');
    expect(page.html).toContain('送信</button>');
  });

  test('may be shown by the websites that its author lists, from the first page to the thanks', async () => {
    const { url } = await createForm({ ...CONTACT, allowed_origins: ['https://shop.example.com'] });
    const page = await read(url);
    const wrong = await submit(url, { email: '' }, page);
    const tooLarge = await submit(url, { message: 'x'.repeat(11 * 1024 * 1024) }, page);
    const thanks = await read(`${url}/thanks`);
    expect([page, wrong, tooLarge, thanks].map(({ status }) => status)).toEqual([200, 422, 413, 200]);
    for (const { headers } of [page, wrong, tooLarge, thanks]) {
      expect(headers.get('content-security-policy')).toMatch(
        /; frame-ancestors https:\/\/shop\.example\.com$/,
      );
      expect(headers.get('x-frame-options')).toBeNull();
    }
  });

  test('is shown by no website unless its author lists one', async () => {
    const { url } = await createForm();
    expect((await read(url)).headers.get('x-frame-options')).toBe('DENY');
    const unknown = await read(`${service.url}/api/v1/forms/${'x'.repeat(43)}`);
    expect(unknown.headers.get('x-frame-options')).toBe('DENY');
  });

  test('fills in what the author or the link presets, and only there', async () => {
    const fields = [
      { label: 'Name', name: 'name', type: 'text', value: 'Ada' },
      { label: 'Campaign', name: 'campaign', type: 'hidden', value: 'none' },
    ];
    const { id, url } = await createForm({ ...CONTACT, fields });
    const page = await read(`${url}?campaign=%22%3E%3Cb%3E&other=1`);
    expect(page.html).toContain('value="Ada"');
    expect(hiddenIn(page)).toContainEqual(['campaign', '"><b>']);
    expect(page.html).not.toContain('<b>');
    expect((await submit(url, { name: 'Grace' }, page)).status).toBe(303);
    expect(await executionsOf(id)).toMatchObject([{ input_data: { name: 'Grace', campaign: '"><b>' } }]);
  });

  test.each([
    ['unknown', () => Promise.resolve(`${service.url}/api/v1/forms/${'x'.repeat(43)}`)],
    ['malformed', () => Promise.resolve(`${service.url}/api/v1/forms/x`)],
    [
      'inactive',
      async () => {
        const { id, url } = await createForm();
        await service.api('PUT', `/workflows/${id}`, { key: service.key, body: { status: 'inactive' } });
        return url;
      },
    ],
    [
      'a webhook',
      async () =>
        urlOf(await service.createWorkflow({ nodes: [{ id: 'a', type: 'trigger.webhook' }], edges: [] })),
    ],
  ])('404, and the same: %s', async (_name, address) => {
    const url = await address();
    const page = await read(url);
    const other = await read(`${service.url}/api/v1/forms/${'y'.repeat(43)}`);
    expect([page.status, page.html]).toEqual([404, other.html]);
    expect((await submit(url, GOOD)).status).toBe(404);
  });

  test('the address of a form is none of a webhook', async () => {
    const { url } = await createForm();
    const response = await fetch(url.replace('/forms/', '/webhooks/'), { method: 'POST', body: '{}' });
    expect(response.status).toBe(404);
  });

  test('of a draft is shown, and says so as long as it can be of no use', async () => {
    const draft = await createForm(CONTACT, 'draft');
    expect((await read(draft.url)).status).toBe(200);
    const unfinished = await createForm({ title: 'Soon', fields: [] }, 'draft');
    const page = await read(unfinished.url);
    expect(page.status).toBe(503);
    expect(page.html).toContain('Not ready yet');
  });
});

describe('a submission', () => {
  test('starts one execution with the values, and leads to thanks', async () => {
    const { id, url } = await createForm();
    const page = await read(url);
    const answer = await submit(url, { ...GOOD, more: 'not asked for' }, page);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `${new URL(url).pathname}/thanks`]);
    expect((await read(`${url}/thanks`)).html).toContain('Thank you');
    expect(await executionsOf(id)).toMatchObject([
      {
        status: 'completed',
        trigger_type: 'form',
        input_data: { email: 'ada@example.com', message: 'Hello\nthere', topic: 'Other & more' },
      },
    ]);
    const [row] = await service.database.db.query<{ input: string }>(
      'SELECT input::text AS input FROM executions WHERE workflow_id = $1',
      [id],
    );
    expect(row?.input).toContain('"sacks":1234567890123456789,');
  });

  test('sent again, or ten times at once, starts nothing more', async () => {
    const { id, url } = await createForm();
    const page = await read(url);
    const answers = await Promise.all(Array.from({ length: 10 }, () => submit(url, GOOD, page)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 303));
    expect((await submit(url, GOOD, page)).status).toBe(303);
    expect(await executionsOf(id)).toHaveLength(1);
    expect((await submit(url, GOOD, await read(url))).status).toBe(303);
    expect(await executionsOf(id)).toHaveLength(2);
  });

  test('that does not fit is shown again with what is wrong and what was entered', async () => {
    const { id, url } = await createForm();
    const page = await submit(
      url,
      { email: 'nobody', message: '<i>typed</i>', sacks: 'many', topic: 'Made up' },
      await read(url),
    );
    expect(page.status).toBe(422);
    expect(page.html).toContain('3 fields need your attention.');
    expect(page.html).toContain('Enter an e-mail address, such as name@example.com.');
    expect(page.html).toContain('Enter a number, such as 12 or 3.5.');
    expect(page.html).toContain('Choose one of the options.');
    expect(page.html).toContain('&lt;i&gt;typed&lt;/i&gt;');
    expect(page.html).toMatch(/aria-invalid="true" aria-describedby="field-0-fault"/);
    expect(await executionsOf(id)).toEqual([]);
    expect((await submit(url, GOOD, page)).status).toBe(303);
  });

  test('by a program that fills in every field starts nothing, and looks as if it did', async () => {
    const { id, url } = await createForm();
    const page = await read(url);
    const answer = await submit(url, { ...GOOD, _website: 'https://spam.example' }, page);
    expect(answer.status).toBe(303);
    expect(await executionsOf(id)).toEqual([]);
  });

  test('is limited for each address', async () => {
    const { id, url } = await createForm({ ...CONTACT, submissions_per_minute: 2 });
    for (let n = 0; n < 2; n += 1) expect((await submit(url, GOOD, await read(url))).status).toBe(303);
    const refused = await submit(url, GOOD, await read(url));
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.html).toContain('value="ada@example.com"');
    expect(await executionsOf(id)).toHaveLength(2);
  });

  test('may lead to another page', async () => {
    const { url } = await createForm({ ...CONTACT, redirect_url: 'https://shop.example.com/thanks?a=1' });
    const page = await read(url);
    expect(page.headers.get('content-security-policy')).toContain(
      "form-action 'self' https://shop.example.com;",
    );
    const answer = await submit(url, GOOD, page);
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      'https://shop.example.com/thanks?a=1',
    ]);
  });

  test.each([
    ['application/json', '{"email":"ada@example.com"}', 415],
    ['multipart/form-data; boundary=x', 'no form', 400],
    ['application/x-www-form-urlencoded', '%ff=1', 400],
    ['application/x-www-form-urlencoded', `message=${'x'.repeat(11 * 1024 * 1024)}`, 413],
  ])('of type %s that no form sends is a page that says so: %#', async (type, body, status) => {
    const { id, url } = await createForm();
    const response = await fetch(url, { method: 'POST', body, headers: { 'content-type': type } });
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toContain('text/html');
    expect(await executionsOf(id)).toEqual([]);
  });

  test('of a paused organisation is kept on the page', async () => {
    const { id, url } = await createForm();
    const { db } = service.database;
    const page = await read(url);
    await db.query('UPDATE organisations SET paused_at = now() WHERE id = $1', [service.key.organisationId]);
    const refused = await submit(url, GOOD, page);
    await db.query('UPDATE organisations SET paused_at = NULL WHERE id = $1', [service.key.organisationId]);
    expect(refused.status).toBe(503);
    expect(refused.html).toContain('value="ada@example.com"');
    expect((await submit(url, GOOD, refused)).status).toBe(303);
    expect(await executionsOf(id)).toHaveLength(1);
  });
});

describe('pages and files', () => {
  const APPLICATION = {
    ...CONTACT,
    fields: [
      { label: 'Name', name: 'Your name', type: 'text', required: true },
      { label: 'Days', name: 'days', type: 'choices', choices: ['Mo', 'Tu', 'We'] },
      { label: 'Papers', name: '', type: 'page', help: 'Nearly done' },
      { label: 'CV', name: 'cv', type: 'file', accept: '.pdf, text/*', required: true },
      { label: 'I agree', name: 'agreed', type: 'checkbox', required: true },
    ],
  };

  const papers = (file: File): FormData => {
    const data = new FormData();
    data.append('cv', file);
    data.append('agreed', 'on');
    return data;
  };

  test('go back and forth without losing what was entered', async () => {
    const { id, url } = await createForm(APPLICATION);
    const first = await read(url);
    expect(first.html).toContain('Page 1 of 2');
    expect((await submit(url, {}, first)).status).toBe(422);
    const second = await submit(url, { 'Your name': 'Ada "A"', days: ['Mo', 'We'] }, first);
    expect(second.status).toBe(200);
    expect(second.html).toContain('<h2>Papers</h2>');
    const back = await submit(url, { _back: '1' }, second);
    expect(back.html).toContain('value="Ada &quot;A&quot;"');
    expect(back.html).toMatch(/value="We" checked/);
    const cv = new File(['%PDF'], 'cv.pdf', { type: 'application/pdf' });
    expect((await submit(url, papers(cv), second)).status).toBe(303);
    expect(await executionsOf(id)).toMatchObject([
      {
        input_data: {
          'Your name': 'Ada "A"',
          days: ['Mo', 'We'],
          cv: { name: 'cv.pdf', type: 'application/pdf', size: 4 },
          agreed: true,
        },
      },
    ]);
  });

  test('whatever a page claims of earlier ones is checked again', async () => {
    const { id, url } = await createForm(APPLICATION);
    const cv = new File(['%PDF'], 'cv.pdf', { type: 'application/pdf' });
    const data = papers(cv);
    data.append('_page', '1');
    data.append('days', 'Su');
    const page = await submit(url, data);
    expect(page.status).toBe(422);
    expect(page.html).toContain('Page 1 of 2');
    expect(await executionsOf(id)).toEqual([]);
  });

  test('only accepted files, and no values that say they are files', async () => {
    const { id, url } = await createForm(APPLICATION);
    const second = await submit(url, { 'Your name': 'Ada' }, await read(url));
    const wrong = await submit(
      url,
      papers(new File(['x'], 'cv.exe', { type: 'application/x-msdownload' })),
      second,
    );
    expect(wrong.status).toBe(422);
    expect(wrong.html).toContain('cv.exe isn&#39;t one of the accepted files');
    const made = { cv: '{"$file":"00000000-0000-4000-8000-000000000000"}', agreed: 'on' };
    expect((await submit(url, made, second)).status).toBe(422);
    expect(await executionsOf(id)).toEqual([]);
  });
});
