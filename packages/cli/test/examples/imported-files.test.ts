import type { JsonObject, JsonValue } from '@millrace/engine';
import { send } from '@millrace/testing/api';
import { startModelServer } from '@millrace/testing/model-server';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runConnected, storeConnected } from './imported-run.ts';
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
beforeEach(() => {
  world.outside.forget();
  world.outside.on('POST /files.example.com/sent', {});
});

const VERSIONS = { code: 2, set: 3.4, httpRequest: 4.2, if: 2.2, webhook: 2, s3: 1 };
const NOTHING = { service: 0 };

const chain = (...nodes: readonly OriginalNode[]) => chainOf('Files', VERSIONS, nodes);

const sendFile = (inputDataFieldName: string): OriginalNode => [
  'Send',
  'httpRequest',
  {
    method: 'POST',
    url: 'https://files.example.com/sent',
    sendBody: true,
    contentType: 'binaryData',
    inputDataFieldName,
  },
];

const sendJson = (jsonBody: string): OriginalNode => [
  'Send',
  'httpRequest',
  { method: 'POST', url: 'https://files.example.com/sent', sendBody: true, specifyBody: 'json', jsonBody },
];

const sent = () => world.outside.to('POST /files.example.com/sent');

/** A file that is stored already, as a value. */
async function stored(content: string, name: string, type: string): Promise<JsonValue> {
  const { service, key } = world;
  const form = new FormData();
  form.append('file', new Blob([content], { type }), name);
  const answer = await fetch(`${service.url}/api/v1/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.text}` },
    body: form,
  });
  return (await answer.json()) as JsonValue;
}

describe('files that arrive', () => {
  /** Calls the webhook of a workflow, and waits until it has run. */
  async function call(original: JsonObject, type: string, body: string): Promise<void> {
    const id = await storeConnected(world, original, NOTHING, { status: 'active' });
    const { service, key } = world;
    const hook = await service.api('GET', `/workflows/${id}/webhook-info`, { key });
    const url = `${service.url}/api/v1/webhooks/${String(hook.json.hash)}`;
    const answer = await send(url, 'POST', { raw: body, headers: { 'content-type': type } });
    expect(answer.status, answer.text).toBeLessThan(300);
    const [newest = 0] = await world.executionsOf(id);
    const execution = await world.finished(newest);
    expect(execution.error, JSON.stringify(execution.error)).toBeUndefined();
  }

  it('with a form that calls a webhook, by the names of its fields', async () => {
    const part = (name: string, content: string) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"; filename="${name}.txt"\r\nContent-Type: text/plain\r\n\r\n${content}\r\n`;
    const body = `${part('photo', 'first')}${part('letter', 'second')}--b--\r\n`;
    const hook: OriginalNode = ['Hook', 'webhook', { path: 'in', httpMethod: 'POST', options: {} }];
    await call(chain(hook, sendFile('letter')), 'multipart/form-data; boundary=b', body);
    await call(chain(hook, sendFile('photo0')), 'multipart/form-data; boundary=b', body);
    expect(sent().map(({ text }) => text)).toEqual(['second', 'first']);
  });

  it('as the whole body of a call', async () => {
    const hook: OriginalNode = ['Hook', 'webhook', { httpMethod: 'POST', options: { binaryData: true } }];
    await call(chain(hook, sendFile('data')), 'application/pdf', '%PDF-1.4 whole');
    expect(sent().map(({ text, headers }) => [text, headers['content-type']])).toEqual([
      ['%PDF-1.4 whole', 'application/pdf'],
    ]);
  });

  it('with a mail', async () => {
    const box: OriginalNode = ['Mail', 'emailReadImap', { downloadAttachments: true, options: {} }];
    const attachments = [
      await stored('zero', 'a.txt', 'text/plain'),
      await stored('one', 'b.csv', 'text/csv'),
    ];
    const mailbox = await world.addMail();
    await runConnected(world, chain(box, sendFile('attachment_1')), { service: mailbox }, { attachments });
    expect(sent().map(({ text, headers }) => [text, headers['content-type']])).toEqual([['one', 'text/csv']]);
  });
});

describe('what is known of files', () => {
  const get: OriginalNode = [
    'Get',
    'httpRequest',
    {
      url: 'https://files.example.com/Report.CSV',
      options: { response: { response: { responseFormat: 'file' } } },
    },
  ];
  const serve = () =>
    world.outside.on('GET /files.example.com/Report.CSV', {
      body: 'a,b\n1,2\n',
      headers: { 'content-type': 'text/csv' },
    });

  it('is read by templates and by code', async () => {
    serve();
    const body = `={{ JSON.stringify({ name: $binary.data.fileName.toLowerCase(), type: $binary.data.mimeType, extension: $binary.data.fileExtension.toUpperCase(), names: Object.keys($binary), has: !!$binary.data }) }}`;
    await runConnected(world, chain(BY_HAND, get, sendJson(body)), NOTHING);
    const plain = '={"name":"{{ $binary.data.fileName }}","type":"{{ $binary.data.mimeType }}"}';
    await runConnected(world, chain(BY_HAND, get, sendJson(plain)), NOTHING);
    expect(sent().map(({ body: found }) => found)).toEqual([
      { name: 'report.csv', type: 'text/csv', extension: 'CSV', names: ['data'], has: true },
      { name: 'Report.CSV', type: 'text/csv' },
    ]);
  });

  it('and their content moves between items and files', async () => {
    world.outside.on('GET /files.example.com/Report.CSV', { body: '{"n":7}' });
    const out: OriginalNode = ['Out', 'moveBinaryData', { options: {} }];
    const into: OriginalNode = [
      'In',
      'moveBinaryData',
      { mode: 'jsonToBinary', options: { fileName: '={{ $json.n }}.json' } },
    ];
    await runConnected(world, chain(BY_HAND, get, out, into, sendFile('data')), NOTHING);
    const text: OriginalNode = ['Out', 'moveBinaryData', { setAllData: false, destinationKey: 'text' }];
    await runConnected(world, chain(BY_HAND, get, text, sendJson('={{ JSON.stringify($json) }}')), NOTHING);
    expect(sent().map(({ body }) => body)).toEqual([{ n: 7 }, { text: '{"n":7}' }]);
  });

  it('is kept in Amazon S3, and read from there', async () => {
    serve();
    const objects = '/s3.eu-west-1.amazonaws.com/reports';
    world.outside.on(`PUT ${objects}/*`, { headers: { etag: '"e"' } });
    world.outside.on(`GET ${objects}/*`, { body: 'kept', headers: { 'content-type': 'text/plain' } });
    world.outside.on(`DELETE ${objects}/*`, { status: 204 });
    const s3 = (name: string, parameters: JsonObject): OriginalNode => [
      name,
      'awsS3',
      { bucketName: 'reports', ...parameters },
    ];
    const fields = { access_key_id: 'AKIDTESTTESTTEST', secret_access_key: 'not-a-real-secret' };
    const service = await world.addCredential('aws', fields, ['*.amazonaws.com']);
    const original = chain(
      BY_HAND,
      get,
      s3('Up', { operation: 'upload', fileName: 'today/a.csv', binaryPropertyName: 'data' }),
      s3('Note', { operation: 'upload', fileName: 'note', binaryData: false, fileContent: 'A note' }),
      s3('Down', { operation: 'download', fileKey: 'today/b.csv' }),
      sendFile('data'),
      s3('Delete', { operation: 'delete', fileKey: 'today/b.csv' }),
    );
    await runConnected(world, original, { service, vars: { aws_region: 'eu-west-1' } });
    const kept = world.outside.to('PUT /*').map(({ line, text }) => [line, text]);
    expect(kept).toEqual([
      [`PUT ${objects}/today/a.csv`, 'a,b\n1,2\n'],
      [`PUT ${objects}/note`, 'A note'],
    ]);
    expect(sent().map(({ text }) => text)).toEqual(['kept']);
    expect(world.outside.to('DELETE /*').map(({ line }) => line)).toEqual([`DELETE ${objects}/today/b.csv`]);
  });
});

it('a list in random order has the same items', async () => {
  const list = Array.from({ length: 40 }, (_, index) => index);
  const make: OriginalNode = [
    'List',
    'code',
    { jsCode: `return ${JSON.stringify(list)}.map((n) => ({ json: { n } }));` },
  ];
  const read: OriginalNode = [
    'All',
    'code',
    { jsCode: 'return [{ json: { all: $input.all().map(({ json }) => json.n) } }];' },
  ];
  const original = chain(BY_HAND, make, ['Mix', 'sort', { type: 'random' }], read, sendJson('={{ $json }}'));
  await runConnected(world, original, NOTHING);
  const { all } = JSON.parse(sent()[0]?.text ?? '{"all":[]}') as { all: number[] };
  expect(all.toSorted((a, b) => a - b)).toEqual(list);
  expect(all).not.toEqual(list);
});

it('a workflow that tests itself runs as one that does not', async () => {
  const original = originalOf(
    'Evaluation',
    VERSIONS,
    [
      ['Rows', 'evaluationTrigger'],
      BY_HAND,
      ['Testing?', 'evaluation', { operation: 'checkIfEvaluating' }],
      ['Outputs', 'evaluation', { operation: 'setOutputs', outputs: { values: [] } }],
      ['Never', 'stopAndError', { errorMessage: 'not a test' }],
      sendJson('={{ $json }}'),
    ],
    ['Rows > Testing?', 'Start > Testing?', 'Testing?.0 > Never', 'Testing?.1 > Outputs', 'Outputs > Send'],
  );
  await runConnected(world, original, NOTHING, { n: 1 });
  expect(sent().map(({ body }) => body)).toEqual([{ n: 1 }]);
});

it('an agent sends a mail by Gmail', async () => {
  const model = await startModelServer({
    answer: ({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? 'Done.'
        : { toolCalls: [{ name: 'Write', arguments: { To: 'ada@a.example', Message: 'Tea?' } }] },
  });
  const mails = '/gmail.googleapis.com/gmail/v1/users/me/messages/send';
  world.outside.on(`POST ${mails}`, { body: { id: 'm1' } });
  const tool: JsonObject = {
    sendTo: "={{ $fromAI('To') }}",
    subject: 'An invitation',
    message: "={{ $fromAI('Message') }}",
    emailType: 'text',
    options: {},
  };
  const langchain = '@n8n/n8n-nodes-langchain';
  const part = (name: string, type: string, index: number, parameters: JsonObject, typeVersion = 1) => ({
    name,
    type,
    typeVersion,
    position: [index * 200, 0],
    parameters,
  });
  const to = (role: string) => ({ [role]: [[{ node: 'Agent', type: role, index: 0 }]] });
  const original = {
    name: 'Mail',
    nodes: [
      part('Start', 'n8n-nodes-base.manualTrigger', 0, {}),
      part('Agent', `${langchain}.agent`, 1, { promptType: 'define', text: 'Invite Ada.' }, 1.9),
      part('Model', `${langchain}.lmChatOpenAi`, 2, { model: 'gpt-4o' }),
      part('Write', 'n8n-nodes-base.gmailTool', 3, tool, 2.1),
    ],
    connections: {
      Start: to('main'),
      Model: to('ai_languageModel'),
      Write: to('ai_tool'),
    },
  };
  const credential = await world.addCredential('ai', {
    provider: 'openai_compatible',
    base_url: model.baseUrl('openai_compatible'),
    api_key: 'k',
  });
  const service = await world.addToken('gmail.googleapis.com');
  await runConnected(world, original, { service, model: credential });
  const [asked] = world.outside.to(`POST ${mails}`);
  const mail = Buffer.from(JSON.parse(asked?.text ?? '{"raw":""}').raw, 'base64url').toString();
  expect(mail).toMatch(/^To: ada@a\.example\s*$/m);
  expect(mail).toContain(Buffer.from('An invitation').toString('base64'));
  expect(mail).toMatch(/\s\sTea\?\s*$/);
  await model.close();
});
