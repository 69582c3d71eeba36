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
