import type { JsonObject, JsonValue } from '@millrace/engine';
import { findProblems } from '@millrace/engine';
import { SERVICES } from '@millrace/importer-services/services';
import { registry } from '@millrace/nodes';
import { describe, expect, it } from 'vitest';
import { configOf, flowOf, n8n, outcomeOf, read, START } from '../testing.ts';

const VERSIONS: { readonly [type: string]: number } = { httpRequest: 4.2 };

function imported(type: string, parameters: JsonObject) {
  return read(
    n8n({ Start: START, Here: { type, parameters, version: VERSIONS[type] ?? 1 } }, [['Start', 'Here']]),
  );
}

const id = (value: string) => ({ __rl: true, mode: 'id', value });

it('properties of Notion, also of kinds that are told by their value', () => {
  const property = (key: string, more: JsonObject) => ({ key, ...more });
  const config = configOf(
    imported('notion', {
      resource: 'databasePage',
      operation: 'create',
      databaseId: id('db'),
      propertiesUi: {
        propertyValues: [
          property('Link', { urlValue: 'https://a.example' }),
          property('Doc |files', { fileUrls: { fileUrl: [{ name: 'n', url: 'https://b.example/f' }] } }),
        ],
      },
    }),
    'Here',
  );
  expect(config?.properties).toEqual({
    Link: { url: 'https://a.example' },
    Doc: { files: [{ name: 'n', external: { url: 'https://b.example/f' } }] },
  });
});

it('a webhook of Discord is called without a credential, at the address that its owner enters', () => {
  const result = imported('discord', { authentication: 'webhook', content: 'Hello' });
  const config = configOf(result, 'Here');
  expect(config).toMatchObject({
    method: 'POST',
    url: 'https://discord.com/api/webhooks/{{vars.discord_id}}/{{vars.discord_token}}',
    body: { content: 'Hello' },
  });
  expect(config).not.toHaveProperty('auth');
});

it.each([
  ['httpBearerAuth', { 'X-Mode': 'fast' }, 'header_of_credential'],
  ['httpHeaderAuth', { 'X-Mode': 'fast', authorization: 'REMOVED_SECRET' }, 'header_beside_credential'],
])(
  'an Authorization header is left out where the credential sets it: %s',
  (genericAuthType, headers, said) => {
    const result = imported('httpRequest', {
      ...{ url: 'https://a.example.com', authentication: 'genericCredentialType', sendHeaders: true },
      genericAuthType,
      headerParameters: {
        parameters: [
          { name: 'authorization', value: 'Bearer $KEY' },
          { name: 'X-Mode', value: 'fast' },
        ],
      },
    });
    expect(configOf(result, 'Here')?.headers).toEqual(headers);
    expect(JSON.stringify(outcomeOf(result, 'Here'))).toContain(said);
  },
);

it('fields of Baserow have the names that it gives to their numbers', () => {
  const row = (fieldId: JsonValue) =>
    configOf(
      imported('baserow', {
        ...{ operation: 'create', tableId: 7, fieldsUi: { fieldValues: [{ fieldId, fieldValue: 'x' }] } },
      }),
      'Here',
    );
  expect(row(5870)).toMatchObject({ body: { field_5870: 'x' } });
  expect(row(5870)).not.toHaveProperty('query');
  expect(row('Name')).toMatchObject({ query: { user_field_names: true }, body: { Name: 'x' } });
});

it('attributes of Perspective are asked for as its node does', () => {
  const requestedAttributesValues = [
    { attributeName: 'threat', scoreThreshold: 0.5 },
    { attributeName: 'profanity' },
  ];
  const requestedAttributesUi = { requestedAttributesValues };
  const given = { text: 'Grr', requestedAttributesUi, options: { languages: 'en' } };
  expect(configOf(imported('googlePerspective', given), 'Here')?.body).toEqual({
    comment: { type: 'PLAIN_TEXT', text: 'Grr' },
    requestedAttributes: {
      THREAT: { scoreType: 'probability', scoreThreshold: 0.5 },
      PROFANITY: { scoreType: 'probability', scoreThreshold: 0 },
    },
    languages: 'en',
  });
});

describe('a store that speaks S3', () => {
  const file = (parameters: JsonObject) =>
    configOf(imported('s3', { bucketName: 'lamps', ...parameters }), 'Here');
  const auth = { type: 'credential', credential_id: 0 };

  it('is at an address of its own', () => {
    expect(file({ binaryData: false, fileName: 'a b/c.txt', fileContent: 'Hi' })).toMatchObject({
      ...{ method: 'PUT', url: '{{vars.s3_url}}/lamps/a%20b/c.txt', auth, body: 'Hi', body_type: 'text' },
    });
    expect(file({ operation: 'download', fileKey: '={{ $json.key }}' })).toMatchObject({
      ...{ url: '{{vars.s3_url}}/lamps/{{trigger.data.key | url_encode}}', auth, response_type: 'file' },
    });
    expect(file({ operation: 'delete', fileKey: 'a.txt' })).toMatchObject({ method: 'DELETE', auth });
  });

  it('has operations that are dropped', () => {
    expect(outcomeOf(imported('s3', { operation: 'getAll' }), 'Here')?.kind).toBe('dropped');
  });
});

describe('what n8n has no name for', () => {
  it.each<[string, JsonObject, string]>([
    ['telegram', { operation: 'send', chatId: '1', text: 'x' }, 'import.nearest_operation'],
    ['googleSheets', { operation: 'getRows' }, 'import.nearest_operation'],
    ['openai', { operation: 'message', prompt: 'x' }, 'import.nearest_node'],
  ])('is read as what is meant: %s', (type, parameters, key) => {
    expect(JSON.stringify(outcomeOf(imported(type, parameters), 'Here'))).toContain(key);
  });

  it('but not where the node has another operation', () => {
    expect(outcomeOf(imported('telegram', { operation: 'sendMediaGroup' }), 'Here')?.kind).toBe('dropped');
  });
});

describe('the call of a service', () => {
  it.each<[string, JsonObject, JsonObject]>([
    [
      'perplexity',
      {
        messages: { message: [{ content: '={{ $json.question }}' }, { role: 'system', content: 'Short.' }] },
      },
      {
        method: 'POST',
        url: 'https://api.perplexity.ai/chat/completions',
        body: {
          model: 'sonar',
          messages: [
            { role: 'user', content: '{{trigger.data.question}}' },
            { role: 'system', content: 'Short.' },
          ],
        },
      },
    ],
    [
      '@apify/n8n-nodes-apify.apify',
      {
        operation: 'Run actor and get dataset',
        actorId: id('owner/actor'),
        customBody: '={"urls": ["{{ $json.url }}"]}',
      },
      {
        method: 'POST',
        url: 'https://api.apify.com/v2/acts/owner~actor/run-sync-get-dataset-items',
        body: { urls: ['{{trigger.data.url}}'] },
      },
    ],
    [
      '@mendable/n8n-nodes-firecrawl.firecrawl',
      {
        operation: 'scrape',
        url: 'https://a.example',
        scrapeOptions: { options: { formats: { format: [{}, { type: 'html' }] } } },
      },
      {
        url: 'https://api.firecrawl.dev/v2/scrape',
        body: { url: 'https://a.example', formats: ['markdown', 'html'] },
      },
    ],
    [
      'linkedIn',
      { postAs: 'organization', organization: '7', text: '={{ $json.text }}' },
      {
        url: 'https://api.linkedin.com/rest/posts',
        headers: { 'LinkedIn-Version': '202504', 'X-Restli-Protocol-Version': '2.0.0' },
        body: {
          author: 'urn:li:organization:7',
          commentary: '{{trigger.data.text}}',
          visibility: 'PUBLIC',
          distribution: { feedDistribution: 'MAIN_FEED' },
          lifecycleState: 'PUBLISHED',
        },
      },
    ],
    [
      'n8n-nodes-evolution-api.evolutionApi',
      {
        resource: 'messages-api',
        operation: 'send-text',
        instanceName: 'a b',
        remoteJid: '={{ $json.to }}',
        messageText: 'Hi',
      },
      {
        url: '{{vars.evolutionapi_url}}/message/sendText/a%20b',
        body: { number: '{{trigger.data.to}}', text: 'Hi' },
      },
    ],
    [
      'nocoDb',
      {
        operation: 'update',
        table: 't1',
        id: '={{ $json.id }}',
        fieldsUi: { fieldValues: [{ fieldName: 'Name', fieldValue: '={{ $json.name }}' }] },
      },
      {
        method: 'PATCH',
        url: '{{vars.nocodb_url}}/api/v2/tables/t1/records',
        body: { Id: '{{trigger.data.id}}', Name: '{{trigger.data.name}}' },
      },
    ],
    [
      'n8n',
      { filters: { tags: 'live' } },
      { url: '{{vars.n8n_url}}/api/v1/workflows', query: { tags: 'live', limit: '250' } },
    ],
    [
      'homeAssistant',
      {
        resource: 'service',
        operation: 'call',
        domain: 'script',
        service: 'announce',
        serviceAttributes: { attributes: [{ name: 'message', value: '={{ $json.text }}' }] },
      },
      {
        method: 'POST',
        url: '{{vars.homeassistant_url}}/api/services/script/announce',
        body: { message: '{{trigger.data.text}}' },
      },
    ],
    [
      'xero',
      { operation: 'getAll', organizationId: 't1', options: { statuses: ['PAID', 'DRAFT'] } },
      {
        url: 'https://api.xero.com/api.xro/2.0/Invoices',
        headers: { 'Xero-Tenant-Id': 't1' },
        query: { Statuses: 'PAID,DRAFT' },
      },
    ],
    [
      'grist',
      {
        docId: 'd',
        tableId: 't',
        operation: 'create',
        fieldsToSend: { properties: [{ fieldId: 'A', fieldValue: '={{ $json.a }}' }] },
      },
      {
        url: 'https://docs.getgrist.com/api/docs/d/tables/t/records',
        body: { records: [{ fields: { A: '{{trigger.data.a}}' } }] },
      },
    ],
    [
      'n8n-nodes-chatwork.chatwork',
      { resource: 'message', operation: 'create', roomId: '7', body: 'Hi' },
      { url: 'https://api.chatwork.com/v2/rooms/7/messages', body: { body: 'Hi' }, body_type: 'form' },
    ],
  ])('%s', (type, parameters, config) => {
    const result = imported(type, parameters);
    expect(configOf(result, 'Here')).toMatchObject(config);
    expect(outcomeOf(result, 'Here')?.kind).toBe('approximated');
  });

  it('is not made where a file would have to be uploaded first', () => {
    const image = imported('linkedIn', { text: 'x', shareMediaCategory: 'IMAGE' });
    expect(outcomeOf(image, 'Here')?.kind).toBe('dropped');
  });
});

it('a file of GitHub is changed after its state is read', () => {
  const result = imported('github', {
    resource: 'file',
    operation: 'edit',
    owner: id('me'),
    repository: id('r'),
    filePath: 'a.txt',
    fileContent: '={{ $json.text }}',
    commitMessage: 'Change it',
  });
  const url = 'https://api.github.com/repos/me/r/contents/a.txt';
  expect(configOf(result, 'Here: before')).toMatchObject({ url });
  expect(configOf(result, 'Here')).toMatchObject({
    method: 'PUT',
    url,
    body: {
      message: 'Change it',
      content: '{{nodes.here_values.output.result.value_1}}',
      sha: '{{nodes.here_before.output.body.sha}}',
    },
  });
});

it('names that n8n does not have are read as what is meant', () => {
  const post = imported('slack', { operation: 'postMessage', channel: '#a', text: 'Hi' });
  expect(outcomeOf(post, 'Here')).toMatchObject({ kind: 'approximated' });
  const messages = {
    values: [
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'Hi' },
    ],
  };
  const asked = imported('openAi', { resource: 'chat', operation: 'create', model: 'gpt-4', messages });
  expect(configOf(asked, 'Here')).toMatchObject({ model: 'gpt-4', system: 'Be short.', prompt: 'Hi' });
});

it('parameters that an expression writes out as an object are templates', () => {
  const result = imported('httpRequest', {
    url: 'https://a.example.com',
    sendQuery: true,
    specifyQuery: 'json',
    jsonQuery: "={{ JSON.stringify({ name: $json.name || 'all', 'per-page': 10 }) }}",
  });
  expect(configOf(result, 'Here')?.query).toEqual({ name: '{{trigger.data.name || "all"}}', 'per-page': 10 });
});

it('code for each item keeps what it remembers in the data store', () => {
  const functionCode = "const data = getWorkflowStaticData('global');\ndata.count = 1;\nreturn item;";
  const result = imported('functionItem', { functionCode });
  expect(configOf(result, 'Here: remember')).toMatchObject({ operation: 'set' });
  expect(outcomeOf(result, 'Here')).toMatchObject({ kind: 'approximated' });
});

/** Each operation with nothing filled in: what is made of it is a flow in which only values are missing. */
describe.each(Object.entries(SERVICES))('%s', (type, { operations }) => {
  it.each(Object.keys(operations))('%s becomes nodes that are known', (name) => {
    const at = name.indexOf('.');
    const [resource, operation] = [name.slice(0, at), name.slice(at + 1)];
    const result = imported(type, {
      ...(resource === '' ? {} : { resource }),
      ...(operation === '' ? {} : { operation }),
    });
    const codes = findProblems(flowOf(result), registry).map(({ code }): JsonValue => code);
    expect(codes).not.toContain('unknown_node_type');
    expect(codes).not.toContain('invalid_template');
  });
});
