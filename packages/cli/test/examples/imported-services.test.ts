import { createHash, createHmac } from 'node:crypto';
import type { JsonObject, JsonValue } from '@millrace/engine';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runElsewhere, runImported } from './imported-run.ts';
import { BY_HAND, chainOf, type OriginalNode, originalOf } from './n8n-original.ts';
import { type Reached, reachServices } from './services.ts';
import { openWorld, type World } from './world.ts';

let world: World;
let reached: Reached;
beforeAll(async () => {
  world = await openWorld();
  reached = await reachServices(world);
});
afterAll(async () => {
  await reached.stop();
  await world.close();
});
beforeEach(() => world.outside.forget());

const VERSIONS = {
  code: 2,
  set: 3.4,
  httpRequest: 4.2,
  googleSheets: 4.5,
  dateTime: 2,
  compareDatasets: 2.3,
};

/** Nodes one after the other, behind a trigger. */
const chain = (...nodes: readonly OriginalNode[]) => chainOf('Services', VERSIONS, [BY_HAND, ...nodes]);

const calls = () => world.outside.received.map(({ line, query, body }) => [line, query, body]);
const rl = (value: string, mode = 'id') => ({ __rl: true, mode, value });

/** Runs them, and returns what comes out of the last one. */
async function lastOf(original: JsonObject, label: string, input: JsonValue = {}): Promise<JsonValue> {
  const execution = await runImported(world, original, input);
  const outputs = execution.node_outputs as { [id: string]: { output?: JsonObject } };
  return outputs[label]?.output?.result ?? outputs[label]?.output ?? null;
}

/** A node that downloads a file, which the next one sends. */
function download(name: string, content: string, label = 'Get'): OriginalNode {
  world.outside.on(`GET /files.example.com/${name}`, {
    body: content,
    headers: { 'content-type': 'video/mp4' },
  });
  return [
    label,
    'httpRequest',
    {
      url: `https://files.example.com/${name}`,
      options: { response: { response: { responseFormat: 'file' } } },
    },
  ];
}

describe('rows of Google Sheets', () => {
  const sheet = { documentId: rl('doc1'), sheetName: rl('Orders', 'name') };
  const values = '/sheets.googleapis.com/v4/spreadsheets/doc1/values/Orders';
  const quoted = values.replace('Orders', "'Orders'");

  it('are added by the letters of their columns, as files that n8n did not write give them', async () => {
    world.outside.on(`GET ${values}!1:1`, { body: { values: [['Name', 'Phone']] } });
    world.outside.on(`POST ${values}:append`, { body: {} });
    const mappings = [
      { toField: 'A', value: '={{ $json.name }}' },
      { toField: 'Phone', value: '12' },
    ];
    const node = { operation: 'append', ...sheet, columns: { mappings } };
    await runElsewhere(world, chain(['Here', 'googleSheets', node]), { name: 'Ada' });
    expect(calls().at(-1)?.[2]).toEqual({ values: [['Ada', '12']] });
  });

  it('are deleted from the sheet that has the name', async () => {
    world.outside.on('GET /sheets.googleapis.com/v4/spreadsheets/doc1', {
      body: {
        sheets: [
          { properties: { sheetId: 0, title: 'A' } },
          { properties: { sheetId: 77, title: 'Orders' } },
        ],
      },
    });
    world.outside.on('POST /sheets.googleapis.com/v4/spreadsheets/doc1:batchUpdate', {});
    const node = { operation: 'delete', ...sheet, startIndex: '={{ $json.row }}', numberToDelete: 2 };
    await runElsewhere(world, chain(['Here', 'googleSheets', node]), { row: 5 });
    expect(calls().at(-1)?.[2]).toEqual({
      requests: [
        { deleteDimension: { range: { sheetId: 77, dimension: 'ROWS', startIndex: 4, endIndex: 6 } } },
      ],
    });
    const columns = { operation: 'delete', ...sheet, toDelete: 'columns', startIndex: 'AB' };
    await runElsewhere(world, chain(['Here', 'googleSheets', columns]));
    expect(JSON.stringify(calls().at(-1)?.[2])).toContain(
      '"dimension":"COLUMNS","startIndex":27,"endIndex":28',
    );
  });

  it('without a column that tells them apart are added, or found by their number', async () => {
    world.outside.on(`GET ${values}*`, {
      body: {
        values: [
          ['id', 'state'],
          ['1', 'new'],
          ['2', 'new'],
        ],
      },
    });
    world.outside.on(`GET ${quoted}!1%3A1`, { body: { values: [['id', 'state']] } });
    world.outside.on(`POST ${quoted}:append`, { body: { updates: { updatedRange: 'Orders!A4:B4' } } });
    world.outside.on(`PUT ${values}*`, {});
    const credential = await world.addToken('sheets.googleapis.com');
    const set = (operation: string) => ({
      ...sheet,
      operation,
      columns: { mappingMode: 'defineBelow', value: { id: '2', state: 'done' } },
    });
    await runElsewhere(world, chain(['Here', 'googleSheets', set('appendOrUpdate')]), {}, credential);
    expect(calls().at(-1)).toEqual([
      `POST ${quoted}:append`,
      { valueInputOption: 'USER_ENTERED', insertDataOption: 'INSERT_ROWS' },
      { majorDimension: 'ROWS', values: [['2', 'done']] },
    ]);
    await runElsewhere(world, chain(['Here', 'googleSheets', set('update')]), { row_number: 3 });
    expect(calls().at(-1)?.[0]).toBe(`PUT ${values}!A3`);
    // A name that n8n doesn't have, but that says what is meant.
    const read = chain(['Rows', 'googleSheets', { ...sheet, operation: 'getAll' }]);
    const { node_outputs: outputs } = await runElsewhere(world, read);
    expect(JSON.stringify(outputs)).toContain('{"row_number":2,"id":"1","state":"new"}');
  });
});

describe('files', () => {
  it('are uploaded to YouTube where it says', async () => {
    const place = `${world.outside.url}/place/1`;
    world.outside.on('POST /www.googleapis.com/upload/youtube/v3/videos', { headers: { location: place } });
    world.outside.on('PUT /place/1', { body: { id: 'v1' } });
    const video = {
      resource: 'video',
      operation: 'upload',
      title: '={{ $("Start").item.json.title }}',
      categoryId: '22',
      options: { tags: 'sea, harbour', privacyStatus: 'unlisted' },
    };
    const seen = {
      url: `${world.outside.url}/seen`,
      method: 'POST',
      sendBody: true,
      specifyBody: 'json',
      jsonBody: '={"id":"{{ $json.uploadId }}"}',
    };
    world.outside.on('POST /seen', {});
    await runElsewhere(
      world,
      chain(download('a.mp4', 'film'), ['Up', 'youTube', video], ['Seen', 'httpRequest', seen]),
      { title: 'Quay' },
    );
    const [, begin, content, end] = world.outside.received;
    expect(begin).toMatchObject({
      query: { uploadType: 'resumable', part: 'snippet,status' },
      headers: { 'x-upload-content-type': 'video/mp4' },
      body: {
        snippet: { title: 'Quay', categoryId: '22', tags: ['sea', 'harbour'] },
        status: { privacyStatus: 'unlisted' },
      },
    });
    expect([content?.text, content?.headers['content-type']]).toEqual(['film', 'video/mp4']);
    expect(end?.body).toEqual({ id: 'v1' });
  });

  it('are images of posts on LinkedIn', async () => {
    world.outside.on('POST /api.linkedin.com/rest/images', {
      body: { value: { uploadUrl: `${world.outside.url}/image`, image: 'urn:li:image:9' } },
    });
    world.outside.on('PUT /image', { status: 201 });
    world.outside.on('POST /api.linkedin.com/rest/posts', {
      status: 201,
      headers: { 'x-restli-id': 'urn:1' },
    });
    const post = { postAs: 'organization', organization: '7', text: 'Hello', shareMediaCategory: 'IMAGE' };
    await runElsewhere(world, chain(download('b.png', 'picture'), ['Post', 'linkedIn', post]));
    const [, begin, content, end] = world.outside.received;
    expect([begin?.query, begin?.body]).toEqual([
      { action: 'initializeUpload' },
      { initializeUploadRequest: { owner: 'urn:li:organization:7' } },
    ]);
    expect(content?.text).toBe('picture');
    expect(end?.body).toMatchObject({ commentary: 'Hello', content: { media: { id: 'urn:li:image:9' } } });
  });

  it('go to Slack and Dropbox', async () => {
    world.outside.on('GET /slack.com/api/files.getUploadURLExternal', {
      body: { ok: true, upload_url: `${world.outside.url}/slack-content`, file_id: 'F1' },
    });
    world.outside.on('POST /slack-content', {});
    world.outside.on('POST /slack.com/api/files.completeUploadExternal', {
      body: { ok: true, files: [{ id: 'F1' }] },
    });
    world.outside.on('POST /content.dropboxapi.com/2/files/upload', {});
    const toSlack = {
      resource: 'file',
      operation: 'upload',
      options: { channelId: 'C1', fileName: 'x.txt' },
    };
    await runElsewhere(
      world,
      originalOf(
        'x',
        { ...VERSIONS, slack: 2.2 },
        [['Start', 'manualTrigger'], download('c.txt', 'text'), ['Up', 'slack', toSlack]],
        ['Start > Get', 'Get > Up'],
      ),
    );
    expect(world.outside.to('GET /slack.com/*')[0]?.query).toEqual({ filename: 'x.txt', length: '4' });
    expect(world.outside.to('POST /slack.com/*')[0]?.body).toEqual({
      files: [{ id: 'F1' }],
      channel_id: 'C1',
    });
    const box = { binaryData: true, path: '/Büro/c.txt' };
    await runElsewhere(world, chain(download('c.txt', 'text'), ['Up', 'dropbox', box]));
    expect(world.outside.received.at(-1)).toMatchObject({
      text: 'text',
      headers: {
        'dropbox-api-arg': String.raw`{"path":"/B\u00fcro/c.txt","mode":"add"}`,
        'content-type': 'application/octet-stream',
      },
    });
  });

  it('are read and drawn by Gemini', async () => {
    const model = '/generativelanguage.googleapis.com/v1beta/models';
    world.outside.on(`POST ${model}/gemini-2.5-flash:generateContent`, {
      body: { candidates: [{ content: { parts: [{ text: 'Gulls.' }] } }] },
    });
    const image = Buffer.from('drawn').toString('base64');
    world.outside.on(`POST ${model}/gemini-2.5-flash-image:generateContent`, {
      body: { candidates: [{ content: { parts: [{ text: 'x' }, { inlineData: { data: image } }] } }] },
    });
    world.outside.on('POST /files.example.com/heard', {});
    const listen = {
      resource: 'audio',
      operation: 'analyze',
      inputType: 'binary',
      text: 'What is heard?',
      modelId: rl('models/gemini-2.5-flash'),
    };
    const edit = {
      resource: 'image',
      operation: 'edit',
      prompt: 'Add a gull',
      images: { values: [{ binaryPropertyName: 'data' }] },
    };
    const send = {
      method: 'POST',
      url: 'https://files.example.com/heard',
      sendBody: true,
      contentType: 'binaryData',
      inputDataFieldName: 'edited',
    };
    const original = chain(
      download('d.mp3', 'sound'),
      ['Hear', 'googleGemini', listen],
      download('d.mp3', 'sound', 'Again'),
      ['Draw', 'googleGemini', edit],
      ['Send', 'httpRequest', send],
    );
    await runElsewhere(world, original);
    const [heard, drawn] = world.outside.to(`POST ${model}/*`);
    expect(heard?.body).toEqual({
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'What is heard?' },
            { inline_data: { mime_type: 'video/mp4', data: Buffer.from('sound').toString('base64') } },
          ],
        },
      ],
    });
    expect(JSON.stringify(drawn?.body)).toContain('"responseModalities":["TEXT","IMAGE"]');
    expect(world.outside.received.at(-1)?.text).toBe('drawn');
  });
});

describe('services', () => {
  it.each<[string, JsonObject, string, JsonValue]>([
    [
      'WAHA',
      {
        resource: 'Chatting',
        operation: 'Send Text',
        session: '={{ $json.s }}',
        chatId: '1@c.us',
        text: 'Hi',
      },
      'POST /waha_url/api/sendText',
      { session: 'main', chatId: '1@c.us', text: 'Hi' },
    ],
    [
      'odoo',
      {
        resource: 'custom',
        customResource: 'purchase.order',
        operation: 'getAll',
        limit: 3,
        filterRequest: { filter: [{ fieldName: 'name', operator: 'like', value: '={{ $json.s }}' }] },
        options: { fieldsList: ['name'] },
      },
      'POST /odoo_url/json/2/purchase.order/search_read',
      { domain: [['name', 'like', 'main']], fields: ['name'], limit: 3 },
    ],
    [
      'odoo',
      { contactName: 'Ada', additionalFields: { email: 'ada@a.example', jobPosition: 'x' } },
      'POST /odoo_url/json/2/res.partner/create',
      { vals_list: [{ name: 'Ada', email: 'ada@a.example', job_position: 'x' }] },
    ],
    [
      'zendesk',
      {
        resource: 'ticket',
        operation: 'update',
        id: '7',
        updateFields: { status: 'solved', publicReply: 'Done' },
      },
      'PUT /zendesk.com/api/v2/tickets/7',
      { ticket: { status: 'solved', comment: { body: 'Done', public: true } } },
    ],
    [
      'salesforce',
      { resource: 'lead', company: 'Quay', lastname: 'Ada', additionalFields: { email: 'ada@a.example' } },
      'POST /my.salesforce.com/services/data/v60.0/sobjects/Lead',
      { Company: 'Quay', LastName: 'Ada', Email: 'ada@a.example' },
    ],
    [
      'blotato',
      {
        resource: 'post',
        platform: 'tiktok',
        accountId: rl('4'),
        postContentText: 'Hi',
        postContentMediaUrls: 'https://a.example/1, https://a.example/2',
      },
      'POST /backend.blotato.com/v2/posts',
      {
        post: {
          accountId: '4',
          target: { targetType: 'tiktok' },
          content: {
            text: 'Hi',
            platform: 'tiktok',
            mediaUrls: ['https://a.example/1', 'https://a.example/2'],
          },
        },
      },
    ],
  ])('%s %j', async (type, parameters, line, body) => {
    world.outside.on(line, { body: [] });
    await runElsewhere(world, chain(['Here', type, parameters]), { s: 'main' });
    expect(calls().map(([found, , sent]) => [found, sent])).toEqual([[line, body]]);
  });

  it('Twilio, which speaks a text', async () => {
    world.outside.on('POST /api.twilio.com/*', {});
    const call = { resource: 'call', from: '+1', to: '+2', message: 'Tea & <toast>' };
    await runElsewhere(world, chain(['Here', 'twilio', call]));
    const sent = new URLSearchParams(world.outside.received[0]?.text);
    expect(sent.get('Twiml')).toBe('<Response><Say>Tea &amp; &lt;toast></Say></Response>');
  });
});

it('two lists are held against each other as in n8n', async () => {
  const list = (items: readonly JsonObject[]) => ({
    jsCode: `return ${JSON.stringify(items.map((json) => ({ json })))};`,
  });
  const send = (to: string): JsonObject => ({
    method: 'POST',
    url: `${world.outside.url}/${to}`,
    sendBody: true,
    specifyBody: 'json',
    jsonBody: '={{ $json }}',
  });
  world.outside.on('POST /*', {});
  const outputs = ['only-a', 'same', 'different', 'only-b'];
  const original = originalOf(
    'Compare',
    VERSIONS,
    [
      ['Start', 'manualTrigger'],
      [
        'A',
        'code',
        list([
          { id: 1, v: 'x' },
          { id: 2, v: 'x' },
          { id: 3, v: 'x' },
        ]),
      ],
      [
        'B',
        'code',
        list([
          { id: 2, v: 'x' },
          { id: 3, v: 'y' },
          { id: 4, v: 'x' },
        ]),
      ],
      [
        'Compare',
        'compareDatasets',
        { mergeByFields: { values: [{ field1: 'id', field2: 'id' }] }, resolve: 'includeBoth' },
      ],
      ...outputs.map((name): OriginalNode => [name, 'httpRequest', send(name)]),
    ],
    [
      'Start > A',
      'Start > B',
      'A > Compare',
      'B > Compare.1',
      ...outputs.map((name, index) => `Compare.${index} > ${name}`),
    ],
  );
  await runImported(world, original);
  const sent = Object.fromEntries(
    outputs.map((name) => [name, world.outside.to(`POST /${name}`).map(({ body }) => body)]),
  );
  expect(sent).toEqual({
    'only-a': [{ id: 1, v: 'x' }],
    same: [{ id: 2, v: 'x' }],
    different: [{ keys: { id: 3 }, same: { id: 3 }, different: { v: { inputA: 'x', inputB: 'y' } } }],
    'only-b': [{ id: 4, v: 'x' }],
  });
});

describe('code', () => {
  it('that requires crypto gets the digests that Node has', async () => {
    const texts = ['', 'abc', 'ü'.repeat(40), 'x'.repeat(55), 'y'.repeat(119), 'z'.repeat(200)];
    const names = ['md5', 'sha1', 'sha256', 'sha384', 'sha512'];
    const jsCode = `const crypto = require('node:crypto');
const fs = require('fs');
const { createHmac } = require('crypto');
const out = [];
for (const name of ${JSON.stringify(names)}) for (const text of ${JSON.stringify(texts)})
  out.push(crypto.createHash(name).update(text).digest('hex'), createHmac(name, 'k' + text).update(text).digest('base64'));
const same = crypto.timingSafeEqual(Buffer.from('a'), Buffer.from('a'));
return { json: { out, same, env: process.env.PLACE ?? 'none', bytes: crypto.randomBytes(4).toString('hex').length } };`;
    const { out, same, bytes } =
      ((await lastOf(chain(['Code', 'code', { jsCode }]), 'code')) as JsonObject[])[0] ?? {};
    const wanted = names.flatMap((name) =>
      texts.flatMap((text) => [
        createHash(name).update(text).digest('hex'),
        createHmac(name, `k${text}`).update(text).digest('base64'),
      ]),
    );
    expect([out, same, bytes]).toEqual([wanted, true, 8]);
  });

  it('in Python keeps texts of several lines as they are', async () => {
    const pythonCode =
      'def f(x):\n\t"""Says\n\tmore."""\n\treturn """a\n  # b\n""" + x  # it"s\n\nreturn [{"json": {"text": f("\\"c")}}]';
    const original = chain(['Code', 'code', { language: 'python', pythonCode }]);
    expect(await lastOf(original, 'code')).toEqual([{ text: 'a\n  # b\n"c' }]);
  });

  it('sorts, and computes with dates', async () => {
    const items = { jsCode: 'return [{ json: { n: 1 } }, { json: { n: 3 } }, { json: { n: 2 } }];' };
    const sort = { type: 'code', code: 'return b.json.n - a.json.n;' };
    expect(await lastOf(chain(['Items', 'code', items], ['Sort', 'sort', sort]), 'sort')).toEqual([
      { n: 3 },
      { n: 2 },
      { n: 1 },
    ]);
    const between = {
      operation: 'getTimeBetweenDates',
      startDate: '2026-01-01T00:00:00Z',
      endDate: '2026-01-03T06:30:00Z',
      units: ['day', 'hour'],
    };
    expect(await lastOf(chain(['Date', 'dateTime', between]), 'date')).toEqual({
      timeDifference: { days: 2, hours: 6.5 },
    });
    const part = { operation: 'extractDate', date: '2026-05-03T00:00:00Z', part: 'month' };
    expect(await lastOf(chain(['Date', 'dateTime', part]), 'date')).toEqual({ datePart: 5 });
    const up = { operation: 'roundDate', date: '2026-05-03T10:00:00Z', mode: 'roundUp', to: 'month' };
    expect(await lastOf(chain(['Date', 'dateTime', up]), 'date')).toEqual({
      roundedDate: '2026-06-01T00:00:00.000Z',
    });
  });
});
