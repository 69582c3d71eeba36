import { findProblems, type JsonObject } from '@millrace/engine';
import { registry } from '@millrace/nodes';
import { describe, expect, it } from 'vitest';
import { configOf, flowOf, n8n, outcomeOf, read, type Sketch, START } from '../testing.ts';

const LANGCHAIN = '@n8n/n8n-nodes-langchain';

describe('nodes that an agent calls', () => {
  const withTool = (tool: Sketch) =>
    read(
      n8n(
        {
          Chat: { type: `${LANGCHAIN}.chatTrigger`, version: 1.1, parameters: { public: true } },
          Agent: { type: `${LANGCHAIN}.agent`, version: 1.9 },
          Model: { type: `${LANGCHAIN}.lmChatOpenAi`, parameters: { model: 'gpt-4o' } },
          'Look up': tool,
        },
        [
          ['Chat', 'Agent'],
          ['Model', 'Agent', 'ai_languageModel'],
          ['Look up', 'Agent', 'ai_tool'],
        ],
      ),
    );
  const toolIn = (result: ReturnType<typeof read>) => {
    const tools = configOf(result, 'Agent')?.tools as readonly JsonObject[];
    return tools[0];
  };

  it('keep the descriptions of arguments, as n8n writes them', () => {
    const result = withTool({
      type: 'httpRequestTool',
      version: 4.2,
      parameters: { url: "=https://a.example.com/{{ $fromAI('id', `Which one`, 'string') }}" },
    });
    expect(toolIn(result)).toMatchObject({
      parameters: { properties: { id: { description: 'Which one' } } },
    });
  });

  it('are the node that they would be in the workflow, which is not there', () => {
    const result = withTool({
      type: 'postgresTool',
      version: 2.6,
      parameters: {
        operation: 'executeQuery',
        toolDescription: 'Orders of a customer.',
        query: "SELECT * FROM orders WHERE customer = '{{ $fromAI('customer', 'The {{name}}') }}'",
      },
    });
    expect(toolIn(result)).toMatchObject({
      name: 'Look_up',
      description: 'Orders of a customer.',
      type: 'sql.query',
      config: { query: 'SELECT * FROM orders WHERE customer = $1', parameters: ['{{args.customer}}'] },
      parameters: {
        properties: { customer: { type: 'string', description: 'The \\{{name}}' } },
        required: ['customer'],
      },
    });
    expect(flowOf(result).nodes.map(({ type }) => type)).toEqual(['trigger.chat', 'ai.agent']);
    const problems = findProblems(flowOf(result), registry).filter(
      ({ pointer }) => !pointer.endsWith('credential_id'),
    );
    expect(problems).toEqual([]);
  });

  it('keep what is computed for them, before the agent', () => {
    const result = withTool({
      type: 'redisTool',
      parameters: {
        operation: 'get',
        propertyName: 'x',
        key: '={{ $json.chatInput.split(" ").reverse()[0] }}',
      },
    });
    expect(toolIn(result)).toMatchObject({ type: 'data.redis' });
    const { nodes, edges } = flowOf(result);
    expect(nodes.map(({ type }) => type)).toEqual(['trigger.chat', 'core.code', 'ai.agent']);
    expect(edges.map(({ source, target }) => [source, target])).toEqual([
      ['chat', 'look_up_values'],
      ['look_up_values', 'agent'],
    ]);
  });

  it('read a sheet, and add rows to it, with one request', () => {
    const sheet = (more: JsonObject) =>
      withTool({
        type: 'googleSheetsTool',
        version: 4.5,
        parameters: {
          documentId: { __rl: true, value: 'a', mode: 'id' },
          sheetName: { __rl: true, value: 'S', mode: 'name' },
          ...more,
        },
      });
    const url = 'https://sheets.googleapis.com/v4/spreadsheets/a/values/S';
    const reading = sheet({});
    expect(toolIn(reading)).toMatchObject({ type: 'http.request', config: { url } });
    expect(outcomeOf(reading, 'Look up')).toMatchObject({ kind: 'approximated' });
    const adding = (names: readonly string[]) =>
      sheet({
        operation: 'append',
        columns: {
          mappingMode: 'defineBelow',
          value: { B: "={{ $fromAI('note', 'What to note') }}" },
          schema: names.map((id) => ({ id })),
        },
      });
    expect(toolIn(adding(['A', 'B']))).toMatchObject({
      config: { method: 'POST', url: `${url}:append`, body: { values: [['', '{{args.note}}']] } },
      parameters: { required: ['note'] },
    });
    // Where the column is isn't known.
    expect(outcomeOf(adding(['A']), 'Look up')).toMatchObject({ kind: 'dropped' });
  });

  it('send mails with all that the model says', () => {
    const asked = {
      toRecipients: "={{ $fromAI('to') }}",
      additionalFields: { ccRecipients: 'b@example.com' },
    };
    const outlook = withTool({ type: 'microsoftOutlookTool', version: 2, parameters: asked });
    expect(toolIn(outlook)).toMatchObject({
      type: 'connector.microsoft_outlook.send_message',
      config: { to: '{{args.to | string}}', cc: 'b@example.com' },
    });
    const mail = { toEmail: "={{ $fromAI('to') }}", fromEmail: 'b@example.com', contentValue: 'Hi' };
    const attached = { ...mail, additionalFields: { replyToEmail: 'c@example.com', attachments: 'data' } };
    const sendGrid = withTool({ type: 'sendGridTool', parameters: attached });
    expect(toolIn(sendGrid)).toMatchObject({
      type: 'connector.sendgrid.send_email',
      config: { reply_to: 'c@example.com' },
    });
    expect(outcomeOf(sendGrid, 'Look up')).toMatchObject({
      what: expect.arrayContaining([{ key: 'import.settings_left_out', params: { names: 'attachments' } }]),
    });
  });

  it('name the settings that are left out', () => {
    const mail = { sendTo: 'a@example.com', subject: 's', message: 'm' };
    const tools: readonly [string, JsonObject, string][] = [
      ['gmailTool', { ...mail, options: { ccList: 'b@example.com', replyTo: 'c@example.com' } }, 'replyTo'],
      [
        'httpRequestTool',
        { url: 'https://a.example', options: { batching: 1, sendCookies: true } },
        'sendCookies',
      ],
      ['slackTool', { text: 'x', otherOptions: { mrkdwn: true, botProfile: 'b' } }, 'botProfile'],
      ['postgresTool', { operation: 'executeQuery', query: 'SELECT 1', options: { other: 'x' } }, 'other'],
      [`${LANGCHAIN}.toolSerpApi`, { options: { gl: 'de' } }, 'gl'],
    ];
    for (const [type, parameters, names] of tools)
      expect(outcomeOf(withTool({ type, version: 2.1, parameters }), 'Look up'), type).toMatchObject({
        what: expect.arrayContaining([{ key: 'import.settings_left_out', params: { names } }]),
      });
  });

  it('ask for the inputs of a workflow that n8n asks for, and name those that it sets itself', () => {
    const schema = ['query', 'chat', 'limit', 'old'].map((id) => ({
      id,
      displayName: id,
      type: 'string',
      removed: id === 'old',
    }));
    const value = {
      query: "={{ $fromAI('what', 'What to look for (exactly)') || 'all' }}",
      chat: '={{ $json.sessionId }}',
      limit: "={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('limit', ``, 'number') }}",
    };
    const parameters = { description: 'd', workflowInputs: { value, schema } };
    const result = withTool({ type: `${LANGCHAIN}.toolWorkflow`, version: 2.2, parameters });
    expect(toolIn(result)?.parameters).toMatchObject({
      properties: {
        query: { type: 'string', description: 'What to look for (exactly)' },
        limit: { type: 'number', description: 'limit' },
      },
      required: ['query', 'limit'],
    });
    expect(outcomeOf(result, 'Look up')).toMatchObject({
      what: expect.arrayContaining([{ key: 'import.tool_inputs_left_out', params: { names: 'chat' } }]),
    });
  });

  it.each([
    [
      {
        schemaType: 'manual',
        inputSchema: '{ "type": "object", "properties": { "id": { "type": "string" } } }',
      },
      { properties: { id: { type: 'string' } } },
    ],
    [{ jsonSchemaExample: '{ "id": 7 }' }, { properties: { id: { type: 'number' } }, required: ['id'] }],
  ])('ask a workflow by the schema of earlier versions: %o', (given: JsonObject, schema) => {
    const fields = { values: [{ name: 'route', stringValue: 'search' }] };
    const parameters = { name: 'find', specifyInputSchema: true, fields, ...given };
    const result = withTool({ type: `${LANGCHAIN}.toolWorkflow`, version: 1.2, parameters });
    expect(toolIn(result)?.parameters).toMatchObject(schema);
    expect(outcomeOf(result, 'Look up')).toMatchObject({
      what: expect.arrayContaining([{ key: 'import.tool_inputs_left_out', params: { names: 'route' } }]),
    });
  });

  it('are dropped, with nothing left of them, if they would be several nodes or wait', () => {
    const sheet = withTool({
      type: 'googleSheetsTool',
      version: 4.5,
      parameters: {
        operation: 'update',
        documentId: { __rl: true, value: 'a', mode: 'id' },
        sheetName: { __rl: true, value: 'S', mode: 'name' },
        columns: { value: { A: '1' }, matchingColumns: ['A'] },
      },
    });
    expect(outcomeOf(sheet, 'Look up')).toMatchObject({ reason: { key: 'import.tool_of_several' } });
    expect(flowOf(sheet).nodes.map(({ type }) => type)).toEqual(['trigger.chat', 'ai.agent']);
    expect(toolIn(sheet)).toMatchObject({ type: 'core.placeholder' });
    const waiting = withTool({ type: 'waitTool', parameters: { amount: 5, unit: 'seconds' } });
    expect(outcomeOf(waiting, 'Look up')).toMatchObject({ kind: 'dropped' });
  });
});

it('a part that stands among other nodes passes on what arrives', () => {
  const result = read(
    n8n({ Start: START, Memory: { type: `${LANGCHAIN}.memoryBufferWindow` }, After: { type: 'noOp' } }, [
      ['Start', 'Memory'],
      ['Memory', 'After'],
    ]),
  );
  expect(outcomeOf(result, 'Memory')).toMatchObject({ what: [{ key: 'import.part_in_line' }] });
  expect(flowOf(result).nodes.map(({ type }) => type)).not.toContain('core.placeholder');
});
