import { findProblems, type JsonObject } from '@millrace/engine';
import { registry } from '@millrace/nodes';
import { describe, expect, it } from 'vitest';
import { configOf, flowOf, n8n, outcomeOf, read, type Sketch, START } from '../testing.ts';

describe('nodes that classify and extract', () => {
  const model: Sketch = {
    type: '@n8n/n8n-nodes-langchain.lmChatOpenAi',
    parameters: { model: { __rl: true, value: 'gpt-4o-mini' } },
  };
  const fromModel = (type: string, parameters: JsonObject, then: readonly string[] = []) => {
    const file = n8n(
      {
        Start: START,
        Model: model,
        Ask: { type: `@n8n/n8n-nodes-langchain.${type}`, parameters },
        ...Object.fromEntries(then.map((name) => [name, { type: 'noOp' }])),
      },
      [
        ['Start', 'Ask'],
        ['Model', 'Ask', 'ai_languageModel'],
      ],
    );
    const connections = file.connections as { [name: string]: JsonObject };
    connections.Ask = { main: then.map((node) => [{ node, type: 'main', index: 0 }]) };
    return read(file);
  };
  const edgesOf = (result: ReturnType<typeof read>) => {
    const { nodes, edges } = flowOf(result);
    const labels = new Map(nodes.map(({ id, data }) => [id, data?.label]));
    const own = edges.filter(({ source }) => labels.get(source) === 'Ask');
    return Object.fromEntries(own.map(({ sourceHandle, target }) => [sourceHandle, labels.get(target)]));
  };

  it('have a branch for each class, and one for none of them', () => {
    const categories = [
      { category: 'Order', description: 'About an order.' },
      { category: 'other', description: '' },
      { category: 'Order', description: 'Again.' },
    ];
    const parameters = {
      inputText: '={{ $json.body }}',
      categories: { categories },
      options: { multiClass: true, fallback: 'other' },
    };
    const result = fromModel('textClassifier', parameters, ['First', 'Second', 'Third', 'Rest']);
    expect(configOf(result, 'Ask')).toEqual({
      credential_id: 0,
      model: 'gpt-4o-mini',
      text: '{{trigger.data.body}}',
      mode: 'several',
      classes: [
        { name: 'Order', description: 'About an order.' },
        { name: 'other 2', description: 'other' },
        { name: 'Order 3', description: 'Again.' },
      ],
    });
    expect(edgesOf(result)).toEqual({
      Order: 'First',
      'other 2': 'Second',
      'Order 3': 'Third',
      other: 'Rest',
    });
    const codes = new Set(findProblems(flowOf(result), registry).map(({ code }) => code));
    expect([...codes]).toEqual(['empty_config']);
  });

  it('tell moods apart', () => {
    const result = fromModel('sentimentAnalysis', { inputText: '={{ $json.body }}' }, [
      'Good',
      'So-so',
      'Bad',
    ]);
    expect(edgesOf(result)).toEqual({ Positive: 'Good', Neutral: 'So-so', Negative: 'Bad' });
  });

  it('read fields, or what a schema says where names are no names of fields', () => {
    const attributes = (name: string) => ({
      text: '={{ $json.body }}',
      attributes: {
        attributes: [
          { name, type: 'date', description: 'When?', required: true },
          { name: 'pieces', type: 'number', description: '' },
        ],
      },
    });
    expect(configOf(fromModel('informationExtractor', attributes('day')), 'Ask')).toEqual({
      credential_id: 0,
      model: 'gpt-4o-mini',
      text: '{{trigger.data.body}}',
      fields: [
        { name: 'day', type: 'date_time', description: 'When?', required: true },
        { name: 'pieces', type: 'number', description: '' },
      ],
    });
    expect(configOf(fromModel('informationExtractor', attributes('the day')), 'Ask')).toMatchObject({
      define: 'schema',
      schema: {
        properties: { 'the day': { type: 'string', format: 'date-time', description: 'When?' } },
        required: ['the day'],
      },
    });
    const example = { text: 'x', schemaType: 'fromJson', jsonSchemaExample: '{"city": "Oslo"}' };
    expect(configOf(fromModel('informationExtractor', example), 'Ask')).toMatchObject({
      define: 'schema',
      schema: { type: 'object', properties: { city: { type: 'string' } } },
    });
  });

  it('look at an image of the item', () => {
    const result = read(
      n8n(
        {
          Start: START,
          Get: {
            type: 'httpRequest',
            version: 4.2,
            parameters: {
              url: 'https://www.example.com/a.png',
              options: { response: { response: { responseFormat: 'file' } } },
            },
          },
          Look: {
            type: '@n8n/n8n-nodes-langchain.openAi',
            version: 1.8,
            parameters: {
              resource: 'image',
              operation: 'analyze',
              inputType: 'base64',
              modelId: { __rl: true, value: 'gpt-4o', mode: 'list' },
              text: 'What is it?',
            },
          },
        },
        [
          ['Start', 'Get'],
          ['Get', 'Look'],
        ],
      ),
    );
    expect(configOf(result, 'Look')).toEqual({
      credential_id: 0,
      model: 'gpt-4o',
      prompt: 'What is it?',
      files: ['{{nodes.get.output.body}}'],
    });
  });
});

describe('images of the item of an agent', () => {
  const model: Sketch = { type: '@n8n/n8n-nodes-langchain.lmChatOpenAi', parameters: { model: 'gpt-4o' } };
  const form: Sketch = {
    type: 'formTrigger',
    version: 2.2,
    parameters: { formTitle: 'Photo', formFields: { values: [{ fieldLabel: 'Photo', fieldType: 'file' }] } },
  };
  const asked = (from: Sketch, parameters: JsonObject, version = 2) =>
    read(
      n8n(
        { From: from, Model: model, Ask: { type: '@n8n/n8n-nodes-langchain.agent', version, parameters } },
        [
          ['From', 'Ask'],
          ['Model', 'Ask', 'ai_languageModel'],
        ],
      ),
    );
  const prompt = { promptType: 'define', text: 'What is it?' };

  it('are shown to it, unless the original does not', () => {
    const shown = asked(form, prompt);
    expect(configOf(shown, 'Ask')?.files).toBe('{{nodes.ask_images.output.result}}');
    expect(configOf(shown, 'Ask: images')?.input).toEqual({
      files: [expect.stringContaining('trigger.data')],
    });
    expect(findProblems(flowOf(shown), registry).filter(({ code }) => code !== 'empty_config')).toEqual([]);
    for (const other of [
      asked(form, { ...prompt, options: { passthroughBinaryImages: false } }),
      asked(form, { ...prompt, agent: 'conversationalAgent' }, 1.7),
      asked(START, prompt),
    ])
      expect(configOf(other, 'Ask')).not.toHaveProperty('files');
  });

  it('are left out, which is said, if they are only fetched where they are named', () => {
    const mail: Sketch = {
      type: 'gmailTrigger',
      version: 1.2,
      parameters: { simple: false, options: { downloadAttachments: true } },
    };
    expect(outcomeOf(asked(mail, prompt), 'Ask')).toMatchObject({
      what: expect.arrayContaining([expect.objectContaining({ key: 'import.agent_images' })]),
    });
  });
});
