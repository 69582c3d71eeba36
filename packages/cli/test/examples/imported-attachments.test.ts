import type { JsonObject } from '@millrace/engine';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Connections, runConnected, runElsewhere } from './imported-run.ts';
import { BY_HAND, chainOf, type OriginalNode } from './n8n-original.ts';
import { type Reached, reachServices } from './services.ts';
import { openWorld, TOKEN, type World } from './world.ts';

let world: World;
let mails: Connections;
let reached: Reached;
beforeAll(async () => {
  world = await openWorld();
  mails = { service: await world.addToken('gmail.googleapis.com', 'graph.microsoft.com') };
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
  gmail: 2.1,
  microsoftOutlook: 2,
  if: 2.2,
  extractFromFile: 1,
};

const chain = (...nodes: readonly OriginalNode[]) => chainOf('Attachments', VERSIONS, [BY_HAND, ...nodes]);

const sendFile = (inputDataFieldName: string): JsonObject => ({
  method: 'POST',
  url: 'https://files.example.com/sent',
  sendBody: true,
  contentType: 'binaryData',
  inputDataFieldName,
});

it('files that code makes for a list stay with their items', async () => {
  world.outside.on('POST /files.example.com/sent', {});
  const jsCode = `const out = [];
for (const name of ['one', 'two']) {
  out.push({ json: { name }, binary: { doc: await this.helpers.prepareBinaryData(Buffer.from('text ' + name), name + '.txt', 'text/plain') } });
}
return out;`;
  await runElsewhere(world, chain(['Make', 'code', { jsCode }], ['Send', 'httpRequest', sendFile('doc')]));
  expect(world.outside.to('POST /files.example.com/sent').map(({ text }) => text)).toEqual([
    'text one',
    'text two',
  ]);
});

const sent = () => world.outside.to('POST /files.example.com/sent').map(({ text }) => text);

/** Takes the branch if its file is a CSV file. */
const isCsv: JsonObject = {
  conditions: {
    combinator: 'and',
    conditions: [
      {
        leftValue: '={{ $binary.attachment_0.fileExtension }}',
        rightValue: 'csv',
        operator: { type: 'string', operation: 'equals' },
      },
    ],
  },
};

it('an attachment of Gmail is read where it is needed, and is nothing where there is none', async () => {
  const api = '/gmail.googleapis.com/gmail/v1/users/me/messages';
  const part = { filename: 'a.csv', body: { attachmentId: 'A1' } };
  const parts = [{ mimeType: 'text/plain', body: {} }, { parts: [part] }];
  world.outside.on(`GET ${api}/m1`, { body: { id: 'm1', payload: { parts } } });
  world.outside.on(`GET ${api}/m2`, { body: { id: 'm2', payload: {} } });
  // In the alphabet for addresses.
  world.outside.on(`GET ${api}/m1/attachments/A1`, {
    body: { data: Buffer.from('n\n~~>?').toString('base64url') },
  });
  world.outside.on('POST /files.example.com/sent', {});
  const get: JsonObject = {
    operation: 'get',
    messageId: '={{ $json.id }}',
    simple: false,
    options: { downloadAttachments: true },
  };
  const original = chain(
    ['Get', 'gmail', get],
    ['CSV?', 'if', isCsv],
    ['Send', 'httpRequest', sendFile('attachment_0')],
  );
  await runConnected(world, original, mails, { id: 'm1' });
  expect(sent()).toEqual(['n\n~~>?']);
  expect(world.outside.received[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
  world.outside.forget();
  await runConnected(world, original, mails, { id: 'm2' });
  expect(sent()).toEqual([]);
});

it('attachments of several mails of Outlook stay with their mails', async () => {
  const api = '/graph.microsoft.com/v1.0/me/messages';
  world.outside.on(`GET ${api}`, { body: { value: [{ id: 'm1' }, { id: 'm2' }, { id: 'm3' }] } });
  const attachment = (id: string, text: string) => ({
    id,
    name: `${id}.csv`,
    contentBytes: Buffer.from(text).toString('base64'),
  });
  world.outside.on(`GET ${api}/m1/attachments`, { body: { value: [attachment('A', 'one')] } });
  world.outside.on(`GET ${api}/m2/attachments`, { body: { value: [] } });
  world.outside.on(`GET ${api}/m3/attachments`, {
    body: { value: [{ id: 'link' }, attachment('C', 'three'), attachment('D', 'four')] },
  });
  world.outside.on('POST /files.example.com/sent', {});
  const list: JsonObject = { operation: 'getAll', output: 'raw', options: { downloadAttachments: true } };
  const original = chain(
    ['List', 'microsoftOutlook', list],
    ['CSV?', 'if', isCsv],
    ['Send', 'httpRequest', sendFile('attachment_0')],
  );
  await runConnected(world, original, mails);
  expect(sent()).toEqual(['one', 'three']);
});
