import type { JsonObject } from '@millrace/engine';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { runElsewhere } from './imported-run.ts';
import { type OriginalLink, type OriginalNode, originalOf } from './n8n-original.ts';
import { openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(() => world.outside.forget());

const VERSIONS = { code: 2, set: 3.4, httpRequest: 4.2, gmail: 2.1, if: 2.2, extractFromFile: 1 };

function chain(...nodes: readonly OriginalNode[]): JsonObject {
  const all: OriginalNode[] = [['Start', 'manualTrigger'], ...nodes];
  const links = all.slice(1).map(([name], index): OriginalLink => `${all[index]?.[0]} > ${name}`);
  return originalOf('Attachments', VERSIONS, all, links);
}

const sendFile = (inputDataFieldName: string): JsonObject => ({
  method: 'POST',
  url: 'https://files.example.com/sent',
  sendBody: true,
  contentType: 'binaryData',
  inputDataFieldName,
});

it('an attachment of Gmail is read where it is needed, and is nothing where there is none', async () => {
  const api = '/gmail.googleapis.com/gmail/v1/users/me/messages';
  const part = { filename: 'a.csv', body: { attachmentId: 'A1' } };
  world.outside.on(`GET ${api}/m1`, {
    body: { id: 'm1', payload: { parts: [{ mimeType: 'text/plain', body: {} }, { parts: [part] }] } },
  });
  world.outside.on(`GET ${api}/m2`, { body: { id: 'm2', payload: {} } });
  // In the alphabet for addresses.
  world.outside.on(`GET ${api}/m1/attachments/A1`, {
    body: { data: Buffer.from('n\n~~>?').toString('base64url') },
  });
  world.outside.on('POST /files.example.com/sent', {});
  const get = {
    operation: 'get',
    messageId: '={{ $json.id }}',
    simple: false,
    options: { downloadAttachments: true },
  };
  const isCsv = {
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
  const original = chain(
    ['Get', 'gmail', get],
    ['CSV?', 'if', isCsv],
    ['Send', 'httpRequest', sendFile('attachment_0')],
  );
  await runElsewhere(world, original, { id: 'm1' });
  expect(world.outside.to('POST /files.example.com/sent').map(({ text }) => text)).toEqual(['n\n~~>?']);
  world.outside.forget();
  await runElsewhere(world, original, { id: 'm2' });
  expect(world.outside.to('POST /files.example.com/sent')).toEqual([]);
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
