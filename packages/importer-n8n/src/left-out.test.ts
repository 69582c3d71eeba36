import type { JsonObject } from '@millrace/engine';
import { describe, expect, it } from 'vitest';
import { configOf, flowOf, n8n, outcomeOf, read, type Sketch, START } from './testing.ts';

const imported = (type: string, parameters: JsonObject, version = 1, next: Sketch = { type: 'noOp' }) =>
  read(
    n8n({ Start: START, Here: { type, parameters, version }, Next: next }, [
      ['Start', 'Here'],
      ['Here', 'Next'],
    ]),
  );

/** The settings that are reported as left out. */
function leftOut(result: ReturnType<typeof read>, name = 'Here'): unknown {
  const outcome = outcomeOf(result, name);
  const said = outcome?.kind === 'approximated' ? outcome.what : [];
  return said.find(({ key }) => key === 'import.settings_left_out')?.params?.names;
}

describe('a setting that was added to a node', () => {
  it('is reported if nothing that was made knows it', () => {
    const options = { senderName: 'Shop', ccList: 'a@example.com', appendAttribution: true };
    const mail = { sendTo: 'b@example.com', subject: 's', message: 'm', options };
    expect(leftOut(imported('gmail', mail, 2.1))).toBe('senderName');
    expect(leftOut(imported('slack', { text: 'x', otherOptions: { botProfile: { a: 1 } } }, 2.2))).toBe(
      'botProfile',
    );
  });

  it('is not reported if it says nothing, or is the same here', () => {
    const options = { senderName: '', replyTo: null, attachmentsUi: {}, ignoreCase: false };
    expect(leftOut(imported('gmail', { sendTo: 'b', options }, 2.1))).toBeUndefined();
    const conditions = { conditions: [], combinator: 'and', options: {} };
    expect(leftOut(imported('if', { conditions, options: { ignoreCase: true } }, 2.2))).toBeUndefined();
    expect(leftOut(imported('httpRequest', { url: 'https://a.example', options: { timeout: 5 } }, 4.2))).toBe(
      undefined,
    );
  });

  it('is reported of a model that is connected', () => {
    const result = read(
      n8n(
        {
          Start: START,
          Model: {
            type: '@n8n/n8n-nodes-langchain.lmChatOpenAi',
            parameters: { model: 'm', options: { temperature: 0.2, topP: 0.5, maxRetries: 3 } },
          },
          Here: {
            type: '@n8n/n8n-nodes-langchain.chainLlm',
            version: 1.5,
            parameters: { promptType: 'define', text: 'x' },
          },
        },
        [
          ['Start', 'Here'],
          ['Model', 'Here', 'ai_languageModel'],
        ],
      ),
    );
    expect(leftOut(result, 'Model')).toBe('topP');
    expect(configOf(result, 'Here')?.temperature).toBe(0.2);
  });
});

it('what a list is sorted by is reported, and a URL that lacks the row to change', () => {
  const sort = { property: [{ field: 'at', direction: 'desc' }] };
  expect(leftOut(imported('airtable', { operation: 'search', base: 'a', table: 'b', sort }, 2))).toBe('sort');
  const changing = (columns: JsonObject) =>
    JSON.stringify(
      outcomeOf(imported('airtable', { operation: 'update', base: 'a', table: 'b', columns }, 2), 'Here'),
    );
  expect(changing({ value: { Name: 'x' }, matchingColumns: ['Name'] })).toContain('import.url_incomplete');
  expect(changing({ value: { id: 'r', Name: 'x' } })).not.toContain('import.url_incomplete');
});

describe('a setting of a trigger', () => {
  it.each<readonly [string, JsonObject, string | undefined]>([
    ['telegramTrigger', { additionalFields: { chatIds: '7', download: true } }, 'chatIds, download'],
    ['gmailTrigger', { filters: { q: 'a', includeDrafts: true } }, 'includeDrafts'],
    ['kafkaTrigger', { options: { jsonParseMessage: true, fetchMaxBytes: 9 } }, 'fetchMaxBytes'],
    ['formTrigger', { options: { buttonLabel: 'Go', path: 'a', ignoreBots: true } }, 'ignoreBots'],
    ['emailReadImap', { options: { customEmailConfig: '["UNSEEN"]', forceReconnect: 9 } }, 'forceReconnect'],
    [
      '@n8n/n8n-nodes-langchain.chatTrigger',
      { public: true, options: { title: 'T', subtitle: 'S' } },
      'subtitle',
    ],
    ['webhook', { responseMode: 'responseNode', options: { responseData: 'x', rawBody: true } }, undefined],
    [
      'webhook',
      { responseMode: 'responseNode', options: { responseHeaders: { entries: [{}] } } },
      'responseHeaders',
    ],
    ['webhook', { options: { ipWhitelist: '={{ $env.A }}', allowedOrigins: '*' } }, 'ipWhitelist'],
  ])('%s with %o is reported: %s', (type, parameters, names) => {
    const result = read(
      n8n({ Here: { type, version: 1.1, parameters }, Next: { type: 'noOp' } }, [['Here', 'Next']]),
    );
    expect(leftOut(result)).toBe(names);
  });
});

it('a node with a secret that nothing leads to is left out, too', () => {
  const parameters = { url: 'https://a.example', jsonBody: `sk-${'a'.repeat(30)}` };
  const result = read(n8n({ Start: START, Here: { type: 'httpRequest', parameters } }, []));
  const outcome = outcomeOf(result, 'Here');
  expect(outcome?.kind === 'approximated' && outcome.what.map(({ key }) => key)).toEqual([
    'import.never_runs',
    'import.secret_removed',
  ]);
});

describe('settings that were lost before', () => {
  it('of a question to a model', () => {
    const parameters = {
      resource: 'text',
      operation: 'message',
      modelId: 'claude-x',
      messages: { values: [{ content: 'Hi' }] },
      options: { temperature: 0.3, maxTokens: 400, system: 'Be short.' },
    };
    expect(configOf(imported('@n8n/n8n-nodes-langchain.anthropic', parameters), 'Here')).toMatchObject({
      temperature: 0.3,
      max_tokens: 400,
      system: 'Be short.',
      prompt: 'Hi',
    });
  });

  it('of what mails are looked for', () => {
    const filters = { q: 'order', sender: 'a@example.com', readStatus: 'unread' };
    const result = imported('gmail', { resource: 'message', operation: 'getAll', filters }, 2.1);
    expect(configOf(result, 'Here: values')?.code).toContain(
      '["order", \'from:\' + "a@example.com", \'is:\' + "unread"].join(\' \')',
    );
    const plain = imported(
      'gmail',
      { resource: 'message', operation: 'getAll', filters: { q: 'order' } },
      2.1,
    );
    expect(JSON.stringify(configOf(plain, 'Here'))).toContain('"order"');
  });

  it.each([
    [4.4, {}, true],
    [4.4, { returnAllMatches: 'returnAllMatches' }, false],
    [4.5, {}, false],
    [4.5, { returnFirstMatch: true }, true],
  ])('of rows that fit filters, in version %s with %o', (version, options, isFirst) => {
    const filtersUI = { values: [{ lookupColumn: 'Id', lookupValue: '7' }] };
    const result = imported('googleSheets', { operation: 'read', filtersUI, options }, version);
    const code = JSON.stringify(configOf(result, 'Here: rows')?.code);
    expect(code.includes('.slice(0, 1)')).toBe(isFirst);
  });

  it('of where the rows of a sheet are', () => {
    const values = { rangeDefinition: 'specifyRangeA1', range: 'A1:Z2' };
    const parameters = {
      operation: 'read',
      sheetName: 'Orders',
      options: { dataLocationOnSheet: { values } },
    };
    expect(configOf(imported('googleSheets', parameters, 4.5), 'Here')?.url).toMatch(/Orders!A1%3AZ2$/);
  });

  it('of an answer whose items are under a name', () => {
    const parameters = { respondWith: 'firstIncomingItem', options: { responseKey: 'data.item' } };
    const hook: Sketch = { type: 'webhook', version: 2, parameters: { responseMode: 'responseNode' } };
    const result = read(
      n8n({ Hook: hook, Here: { type: 'respondToWebhook', version: 1.1, parameters } }, [['Hook', 'Here']]),
    );
    expect(configOf(result, 'Here')?.body).toEqual({ data: { item: expect.anything() } });
  });

  it('of the fields that are kept beside those that are set', () => {
    const fields = (more: JsonObject) =>
      configOf(
        read(
          n8n(
            {
              Ask: {
                type: 'httpRequest',
                version: 4.2,
                parameters: { url: 'https://a.example', options: {} },
              },
              Start: START,
              Here: { type: 'set', version: 3.4, parameters: { includeOtherFields: true, ...more } },
            },
            [
              ['Start', 'Ask'],
              ['Ask', 'Here'],
            ],
          ),
        ),
        'Here',
      )?.code;
    expect(fields({ include: 'selected', includeFields: 'a, b' })).toContain('["a","b"].includes(name)');
    expect(fields({ include: 'except', excludeFields: 'a' })).toContain('!["a"].includes(name)');
    expect(fields({})).toBe('return { ...input.item, ...input.values };');
  });

  it('of a switch whose rest leaves by one of its outputs', () => {
    const rule = (value: string) => ({ operation: 'equal', value2: value });
    const parameters = {
      dataType: 'string',
      value1: '={{ $json.a }}',
      rules: {
        rules: [
          { ...rule('x'), output: 0 },
          { ...rule('y'), output: 1 },
        ],
      },
      fallbackOutput: 1,
    };
    const file = n8n({ Start: START, Here: { type: 'switch', parameters }, Rest: { type: 'noOp' } }, [
      ['Start', 'Here'],
    ]);
    const connections = {
      ...(file.connections as JsonObject),
      Here: { main: [[], [{ node: 'Rest', type: 'main', index: 0 }]] },
    };
    const { nodes, edges } = flowOf(read({ ...file, connections }));
    const id = (label: string) => nodes.find(({ data }) => data?.label === label)?.id;
    const into = (target: string | undefined) => edges.filter((edge) => edge.target === target);
    expect(into(id('Rest')).map(({ source }) => source)).toEqual([id('Here: output 1')]);
    expect(into(id('Here: output 1')).map(({ sourceHandle }) => sourceHandle)).toEqual(['case_2', 'default']);
  });
});
