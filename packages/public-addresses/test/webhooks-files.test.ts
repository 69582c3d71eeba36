import type { JsonObject } from '@millrace/engine';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  callWebhook,
  githubHeaders,
  startWebhookWorld,
  type WebhookCall,
  type WebhookWorld,
} from './webhooks-world.ts';

let world: WebhookWorld;
beforeAll(async () => {
  world = await startWebhookWorld();
});
afterAll(() => world.service.stop());

const callBy = (method: string, hash: string, call: WebhookCall = {}) =>
  callWebhook(world.service.url, method, hash, call);

const ended = (json: { readonly [member: string]: unknown }) =>
  world.service.finished(Number(json.execution_id));

describe('files', () => {
  const reading = {
    nodes: [{ id: 'read', type: 'file.read', config: { file: '{{trigger.data.sheet}}' } }],
    edges: [{ source: 'start', target: 'read' }],
  };
  const form = (files: number, content = 'id\n17\n'): FormData => {
    const data = new FormData();
    data.append('note', 'Hello');
    for (let index = 0; index < files; index += 1) {
      data.append('sheet', new File([content], '../or\u202eders.csv', { type: 'text/csv' }));
    }
    return data;
  };
  const countFiles = async () => {
    const [row] = await world.service.database.db.query<{ n: number }>(
      'SELECT count(*)::integer AS n FROM files',
    );
    return row?.n;
  };
  /** More than a body may have that is held in memory. */
  const large = 'x'.repeat(3 * 1024 * 1024);

  test('of a form are read by the execution that the call starts, and by no other', async () => {
    const { hash } = await world.createWebhook({ body: 'files' }, reading);
    const first = await ended((await callBy('POST', hash, { body: form(1) })).json);
    const sheet = { name: 'orders.csv', type: 'text/csv', size: 6 };
    expect(first).toMatchObject({
      status: 'completed',
      input_data: { note: 'Hello', sheet },
      node_outputs: { read: { output: { rows: [{ id: '17' }] } } },
    });
    const body = JSON.stringify({ sheet: (first.input_data as JsonObject).sheet });
    const headers = { 'content-type': 'application/json' };
    expect(await ended((await callBy('POST', hash, { body, headers })).json)).toMatchObject({
      status: 'failed',
      error: { code: 'file_not_found' },
    });
  });

  test('are also bodies of any other type', async () => {
    const { hash } = await world.createWebhook({ body: 'files', methods: ['PUT'] });
    const call = (body: string, type: string) =>
      callBy('PUT', hash, { body, headers: { 'content-type': type } });
    expect(await ended((await call('%PDF', 'application/pdf')).json)).toMatchObject({
      input_data: { name: 'file', type: 'application/pdf', size: 4 },
    });
    expect(await ended((await call('{"a":1}', 'application/json')).json)).toMatchObject({
      input_data: { a: 1 },
    });
  });

  /** As browsers send it; fetch leaves the name of an unchosen file out. */
  const part = (disposition: string, content = '') =>
    `--x\r\nContent-Disposition: form-data${disposition}\r\n\r\n${content}\r\n`;
  const multipart = { 'content-type': 'multipart/form-data; boundary=x' };
  const nobodyChose = part('; name="sheet"; filename=""');
  const unsigned = async () => ({ body: 'files' });
  /** All of a call has to be there before it can be checked. */
  const signed = async () => ({
    body: 'files',
    signature: { preset: 'github', credential_id: await world.createSecret('s') },
  });

  test.each([
    ['stored while they arrive', unsigned],
    ['stored when the signature has been checked', signed],
    ['only described', async () => ({ body: 'any' })],
  ])('a form is read in the same way, its files %s', async (_how, settings) => {
    const { hash } = await world.createWebhook(await settings());
    const body = `${[
      part('; name="a%22b%0D%0A"', 'text'),
      part('', 'without a name'),
      nobodyChose.repeat(25),
      part('; name="one"; filename="a%22.csv"', 'id\n17\n'),
      part('; name="empty"; filename="empty.csv"'),
      part('; name="unnamed"; filename=""', 'abc'),
    ].join('')}--x--\r\n`;
    const answer = await callBy('POST', hash, {
      body,
      headers: { ...multipart, ...githubHeaders('s', body) },
    });
    expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
    expect(await ended(answer.json)).toMatchObject({
      input_data: {
        'a"b\r\n': 'text',
        '': 'without a name',
        sheet: Array.from({ length: 25 }, () => null),
        one: { name: 'a".csv', type: 'text/plain', size: 6 },
        empty: { name: 'empty.csv', size: 0 },
        unnamed: { name: 'file', size: 3 },
      },
    });
  });

  test.each([
    ['stored while they arrive', unsigned],
    ['stored when the signature has been checked', signed],
  ])('more than 20 leave nothing, %s', async (_how, settings) => {
    const { id, hash } = await world.createWebhook(await settings());
    const before = await countFiles();
    const body = `${part('; name="a"; filename=""', 'abc').repeat(21)}--x--\r\n`;
    const answer = await callBy('POST', hash, {
      body,
      headers: { ...multipart, ...githubHeaders('s', body) },
    });
    expect([answer.status, answer.json.code]).toEqual([400, 'invalid_body']);
    expect(await countFiles()).toBe(before);
    expect(await world.executionsOf(id)).toEqual([]);
  });

  test('are stored for calls that may start something only, and not too many', async () => {
    const credential_id = await world.createSecret('s');
    const before = await countFiles();
    const signed = await world.createWebhook({
      body: 'files',
      signature: { preset: 'github', credential_id },
    });
    const answer = await callBy('POST', signed.hash, { body: form(1) });
    expect([answer.status, answer.json.code]).toEqual([401, 'invalid_signature']);
    const { hash } = await world.createWebhook({ body: 'files' });
    const many = await callBy('POST', hash, { body: form(21) });
    expect([many.status, many.json.code]).toEqual([400, 'invalid_body']);
    expect(await countFiles()).toBe(before);
  });

  test('may be larger than other bodies, alone and in forms', async () => {
    const credential_id = await world.createSecret('s');
    const { hash } = await world.createWebhook({
      body: 'files',
      signature: { preset: 'token', location: 'header', name: 'x-key', credential_id },
    });
    const key = { 'x-key': 's' };
    const alone = await callBy('POST', hash, {
      body: large,
      headers: { ...key, 'content-type': 'text/plain' },
    });
    expect(await ended(alone.json)).toMatchObject({ input_data: { type: 'text/plain', size: large.length } });
    const both = form(1, large);
    both.append('after', 'Bye');
    both.append('note', 'again');
    const answer = await callBy('POST', hash, { body: both, headers: key });
    expect(await ended(answer.json)).toMatchObject({
      input_data: {
        note: ['Hello', 'again'],
        sheet: { name: 'orders.csv', type: 'text/csv', size: large.length },
        after: 'Bye',
      },
    });
  });

  test('that are too large, cut off, or of nobody leave nothing', async () => {
    const before = await countFiles();
    const credential_id = await world.createSecret('s');
    const binary = { 'content-type': 'application/octet-stream' };
    const known = await world.createWebhook({
      body: 'files',
      signature: { preset: 'token', location: 'header', name: 'x-key', credential_id },
    });
    const stranger = await callBy('POST', known.hash, { body: large, headers: binary });
    expect([stranger.status, stranger.json.code]).toEqual([401, 'invalid_signature']);
    // All of it has to be there before its signature can be checked.
    const signed = await world.createWebhook({
      body: 'files',
      signature: { preset: 'github', credential_id },
    });
    const held = await callBy('POST', signed.hash, { body: large, headers: binary });
    expect([held.status, held.json.code]).toEqual([413, 'body_too_large']);
    const text = await world.createWebhook({ body: 'raw' });
    const raw = await callBy('POST', text.hash, { body: large, headers: { 'content-type': 'text/plain' } });
    expect([raw.status, raw.json.code]).toEqual([413, 'body_too_large']);
    const { id, hash } = await world.createWebhook({ body: 'files' });
    const fields = new FormData();
    fields.append('sheet', new File([large], 'a.csv'));
    fields.append('note', large);
    const texts = await callBy('POST', hash, { body: fields });
    expect([texts.status, texts.json.code]).toEqual([413, 'body_too_large']);
    const cut = `--x\r\nContent-Disposition: form-data; name="sheet"; filename="a.csv"\r\n\r\n${large}`;
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const broken = await callBy('POST', hash, { body: cut, headers });
    expect([broken.status, broken.json.code]).toEqual([400, 'invalid_body']);
    expect(await world.executionsOf(id)).toEqual([]);
    expect(await countFiles()).toBe(before);
  });

  test('of an event that came before are deleted at once', async () => {
    const { hash } = await world.createWebhook({
      body: 'files',
      deduplicate: { by: 'query', name: 'event' },
    });
    const first = await callBy('POST', hash, { rest: '?event=1', body: form(1) });
    const after = await countFiles();
    const second = await callBy('POST', hash, { rest: '?event=1', body: form(1) });
    expect(second.json.execution_id).toBe(first.json.execution_id);
    expect(await countFiles()).toBe(after);
  });
});
