import { findProblems, type JsonObject, type JsonValue } from '@millrace/engine';
import { importWorkflow } from '@millrace/importer';
import { registry } from '@millrace/nodes';
import { describe, expect, it } from 'vitest';
import { configOf, faultOf, flowOf, n8n, OPTIONS, outcomeOf, read, type Sketch, START } from './testing.ts';

/** What a text of the original becomes in a node after one that makes an item. */
function translated(text: string): unknown {
  const result = read(
    n8n(
      {
        Start: START,
        'First one': { type: 'set', version: 3.4, parameters: { mode: 'raw', jsonOutput: '{"a": 1}' } },
        Here: {
          type: 'set',
          version: 3.4,
          parameters: { assignments: { assignments: [{ name: 'x', type: 'string', value: text }] } },
        },
      },
      [
        ['Start', 'First one'],
        ['First one', 'Here'],
      ],
    ),
  );
  return (configOf(result, 'Here')?.values as JsonObject | undefined)?.x;
}

describe('expressions of n8n', () => {
  it.each([
    ['plain {{ text }}', 'plain \\{{ text }}'],
    ['={{ $json.a.b[0] }}', '{{nodes.first_one.output.a.b[0]}}'],
    ["={{ $json['first name'] }}", '{{nodes.first_one.output["first name"]}}'],
    ['={{ $json?.a?.b }}', '{{nodes.first_one.output.a.b}}'],
    ["=Hi {{ $('First one').item.json.a }}!", 'Hi {{nodes.first_one.output.a}}!'],
    ['={{ $node["First one"].json.a }}', '{{nodes.first_one.output.a}}'],
    ["={{ $('First one').first().json.a }}", '{{nodes.first_one.output.a}}'],
    ['={{ $input.item.json.a }}', '{{nodes.first_one.output.a}}'],
    ['={{ $json.a.trim().toLowerCase() }}', '{{nodes.first_one.output.a | trim | lower}}'],
    ['={{ JSON.stringify($json.a) }}', '{{nodes.first_one.output.a | json}}'],
    ['={{ $json.a.length }}', '{{nodes.first_one.output.a | length}}'],
    ["={{ $json.a.split(',') }}", '{{nodes.first_one.output.a | split: ","}}'],
    ['={{ $execution.id }}', '{{execution.id}}'],
    ['={{ $vars.region }}', '{{vars.region}}'],
    ["={{ 'fixed' }}", 'fixed'],
    ['={{ 7 }}', 7],
    ['={{ $json.a + 1 }}', '{{nodes.here_values.output.result.value_1}}'],
    ['={{ {"a": {"b": 1}} }} and {{ $json.a }}', '{"a":{"b":1}} and {{nodes.first_one.output.a}}'],
  ])('%s', (text, expected) => {
    expect(translated(text)).toEqual(expected);
  });

  it('never makes a template of data that looks like one', () => {
    const result = read(
      n8n(
        {
          Start: START,
          Code: {
            type: 'code',
            version: 2,
            parameters: { jsCode: 'return [{json: {a: "{{trigger.data}}"}}];' },
          },
        },
        [['Start', 'Code']],
      ),
    );
    expect(configOf(result, 'Code')?.code).toContain('\\{{trigger.data}}');
    expect(findProblems(flowOf(result), registry)).toEqual([]);
  });
});

describe('what cannot be imported', () => {
  it('becomes a placeholder that shows it and blocks activation', () => {
    const result = read(
      n8n({ Start: START, Shell: { type: 'ssh', parameters: { command: 'uptime {{ x }}' } } }, [
        ['Start', 'Shell'],
      ]),
    );
    expect(outcomeOf(result, 'Shell')).toMatchObject({ kind: 'dropped', type: 'n8n-nodes-base.ssh' });
    expect(configOf(result, 'Shell')).toEqual({
      product: 'n8n',
      type: 'n8n-nodes-base.ssh',
      name: 'Shell',
      parameters: { command: 'uptime \\{{ x }}' },
    });
    expect(findProblems(flowOf(result), registry).map(({ code, node_id: id }) => [code, id])).toEqual([
      ['placeholder', 'shell'],
    ]);
  });

  it('is a jump back to an earlier node', () => {
    const result = read(
      n8n(
        {
          Start: START,
          Ask: { type: 'httpRequest', version: 4.2, parameters: { url: 'https://jobs.example' } },
          Wait: { type: 'wait', version: 1.1 },
        },
        [
          ['Start', 'Ask'],
          ['Ask', 'Wait'],
          ['Wait', 'Ask'],
        ],
      ),
    );
    expect(outcomeOf(result, 'Wait')).toMatchObject({ kind: 'dropped' });
    expect(configOf(result, 'Back to Ask')).toMatchObject({ name: 'Wait → Ask' });
  });

  it('is said of code that needs what only n8n has', () => {
    const result = read(
      n8n(
        {
          Start: START,
          Code: {
            type: 'code',
            version: 2,
            parameters: { jsCode: "return require('fs').readdirSync('.');" },
          },
        },
        [['Start', 'Code']],
      ),
    );
    expect(outcomeOf(result, 'Code')).toMatchObject({ kind: 'dropped' });
  });
});

describe('a trigger that listens', () => {
  const imported = (type: string, parameters: JsonObject, text: string) =>
    read(
      n8n(
        {
          Source: { type, version: 1, parameters },
          Here: {
            type: 'set',
            version: 3.4,
            parameters: { assignments: { assignments: [{ name: 'x', type: 'string', value: text }] } },
          },
        },
        [['Source', 'Here']],
      ),
    );

  it.each([
    [
      'emailReadImap',
      { mailbox: 'INBOX/Orders', postProcessAction: 'nothing', downloadAttachments: true },
      '={{ $json.subject }} {{ $json.textPlain }} {{ $json.from }}',
      {
        ...{ credential_id: 0, folder: 'INBOX/Orders', only_unseen: true, after: 'nothing' },
        ...{ attachments: true, existing: 'start' },
      },
      '{{trigger.data.subject}} {{trigger.data.text}} {{trigger.data.from.address}}',
    ],
    [
      'mqttTrigger',
      { topics: 'mill/+/temperature:1, mill/#', options: { jsonParseBody: true } },
      '={{ $json.message.celsius }} {{ $json.topic }}',
      { credential_id: 0, topics: ['mill/+/temperature', 'mill/#'] },
      '{{trigger.data.json.celsius}} {{trigger.data.topic}}',
    ],
    [
      'postgresTrigger',
      { triggerMode: 'listenTrigger', channelName: 'orders' },
      '={{ $json.payload.id }} {{ $json.processId }}',
      { credential_id: 0, channels: ['orders'] },
      '{{trigger.data.json.id}} {{trigger.data.process_id}}',
    ],
    [
      'kafkaTrigger',
      { topic: 'orders', groupId: 'shop', options: { jsonParseMessage: true, fromBeginning: false } },
      '={{ $json.message.id }} {{ $json.topic }}',
      { credential_id: 0, topics: ['orders'], group: 'shop', existing: 'skip' },
      '{{trigger.data.json.id}} {{trigger.data.topic}}',
    ],
    [
      'kafkaTrigger',
      { topic: 'orders', groupId: 'shop', options: { jsonParseMessage: true, onlyMessage: true } },
      '={{ $json.id }}',
      { credential_id: 0, topics: ['orders'], group: 'shop', existing: 'start' },
      '{{trigger.data.json.id}}',
    ],
    [
      'redisTrigger',
      { channels: 'orders' },
      '={{ $json.message }} {{ $json.channel }}',
      { credential_id: 0, stream: 'orders' },
      '{{trigger.data.fields.message}} {{trigger.data.stream}}',
    ],
  ])(
    '%s listens to the same, and what it gives is read by its names here',
    (type, parameters, text, config, read) => {
      const result = imported(type, parameters, text);
      expect(configOf(result, 'Source')).toEqual(config);
      expect(configOf(result, 'Here')?.values).toEqual({ x: read });
      expect(outcomeOf(result, 'Source')?.kind).toBe('approximated');
    },
  );
});

describe('an agent with its parts', () => {
  it('has the model, the tools and the answer as JSON, and remembers', () => {
    const parser = {
      type: '@n8n/n8n-nodes-langchain.outputParserStructured',
      parameters: { jsonSchemaExample: '{"city": "Oslo", "days": 3}' },
    };
    const result = read(
      n8n(
        {
          Chat: { type: '@n8n/n8n-nodes-langchain.chatTrigger', version: 1.1 },
          Agent: {
            type: '@n8n/n8n-nodes-langchain.agent',
            version: 1.7,
            parameters: { options: { systemMessage: 'You plan trips.' } },
          },
          Model: {
            type: '@n8n/n8n-nodes-langchain.lmChatOpenAi',
            parameters: { model: { __rl: true, value: 'gpt-4o-mini' }, options: { temperature: 0.2 } },
          },
          Memory: { type: '@n8n/n8n-nodes-langchain.memoryBufferWindow', version: 1.3 },
          Parser: parser,
          Post: {
            type: 'slackTool',
            parameters: {
              select: 'channel',
              channelId: { value: 'C1' },
              text: "={{ $fromAI('text', 'What to say') }}",
              toolDescription: 'Says it.',
            },
          },
        },
        [
          ['Chat', 'Agent'],
          ['Model', 'Agent', 'ai_languageModel'],
          ['Memory', 'Agent', 'ai_memory'],
          ['Parser', 'Agent', 'ai_outputParser'],
          ['Post', 'Agent', 'ai_tool'],
        ],
      ),
    );
    expect(result.outcomes.filter(({ kind }) => kind === 'dropped')).toEqual([]);
    expect(configOf(result, 'Agent')).toMatchObject({
      model: 'gpt-4o-mini',
      temperature: 0.2,
      system: 'You plan trips.',
      output: 'json',
      schema: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'number' } } },
      prompt: '{{trigger.data.message}}',
      memory_key: '{{trigger.data.session_id}}',
      memory_turns: 5,
      tools: [
        { name: 'Post', type: 'http.request', config: { body: { channel: 'C1', text: '{{args.text}}' } } },
      ],
    });
    expect(flowOf(result).nodes.map(({ type }) => type)).toEqual(['trigger.chat', 'ai.agent']);
    expect(configOf(result, 'Chat')).toMatchObject({ title: 'Chat', answer: '{{nodes.agent.output.json}}' });
    const codes = new Set(findProblems(flowOf(result), registry).map(({ code }) => code));
    expect([...codes]).toEqual(['empty_config']);
  });

  it('says which options of a model are expressions', () => {
    const result = read(
      n8n(
        {
          Start: { type: 'manualTrigger' },
          Chain: {
            type: '@n8n/n8n-nodes-langchain.chainLlm',
            version: 1.5,
            parameters: { promptType: 'define', text: 'Hello' },
          },
          Model: {
            type: '@n8n/n8n-nodes-langchain.lmChatOpenAi',
            parameters: { options: { temperature: '={{ $json.t }}', maxTokens: -1 } },
          },
        },
        [
          ['Start', 'Chain'],
          ['Model', 'Chain', 'ai_languageModel'],
        ],
      ),
    );
    expect(configOf(result, 'Chain')).not.toHaveProperty('temperature');
    const said = result.outcomes.flatMap((each) => (each.kind === 'approximated' ? each.what : []));
    expect(said.filter(({ key }) => key === 'import.model_option_left_out')).toMatchObject([
      { params: { name: 'temperature' } },
    ]);
  });
});

describe('secrets written into a file', () => {
  it('are not stored', () => {
    const key = `sk-${'a1B2'.repeat(8)}`;
    const result = read(
      n8n(
        {
          Start: START,
          Call: {
            type: 'httpRequest',
            version: 4.2,
            parameters: {
              url: 'https://api.example',
              sendHeaders: true,
              headerParameters: {
                parameters: [
                  { name: 'Authorization', value: 'Bearer very-secret-value' },
                  { name: 'X-Note', value: key },
                ],
              },
            },
          },
        },
        [['Start', 'Call']],
      ),
    );
    expect(configOf(result, 'Call')?.headers).toEqual({
      Authorization: 'REMOVED_SECRET',
      'X-Note': 'REMOVED_SECRET',
    });
    expect(JSON.stringify(result)).not.toContain(key);
    expect(outcomeOf(result, 'Call')?.kind).toBe('approximated');
  });
});

describe('the settings', () => {
  it.each([
    ['Asia/Tokyo', 'Asia/Tokyo'],
    ['+09:00', undefined],
    ['Nowhere/At_All', undefined],
  ])('keep the time zone %s only if a workflow may have it', (timezone, kept) => {
    const file = { ...n8n({ Start: { type: 'interval' } }, []), settings: { timezone } };
    const { settings, nodes } = flowOf(read(file)) as unknown as {
      settings?: JsonObject;
      nodes: readonly { data: { config: JsonObject } }[];
    };
    expect(settings?.timezone).toBe(kept);
    expect(nodes[0]?.data.config.timezone).toBe(kept ?? 'UTC');
  });

  it("don't list a spare trigger among what nothing leads to", () => {
    const every: Sketch = { type: 'interval', parameters: { interval: 5, unit: 'minutes' } };
    const file = n8n(
      { Hook: { type: 'webhook' }, Every: every, Lost: { type: 'noOp' }, Step: { type: 'noOp' } },
      [['Hook', 'Step']],
    );
    const notes = JSON.stringify((flowOf(read(file)) as unknown as { settings: JsonObject }).settings);
    expect(notes).toContain('- Lost');
    expect(notes).not.toContain('- Every');
  });
});

describe('a hostile file', () => {
  it('is refused with a code, or imported; it never crashes', () => {
    let deep: JsonValue = 'x';
    for (let level = 0; level < 5000; level += 1) deep = [deep];
    expect(faultOf(n8n({ Start: START, Set: { type: 'set', parameters: { deep } } }, []))).toBe('too_deep');
    const many = Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`N${index}`, START]));
    expect(faultOf(n8n(many, []))).toBe('too_many_nodes');
    expect(faultOf({ nodes: [], connections: {} })).toBe('no_nodes');
    const inner = n8n({ Start: START }, []);
    const twice = importWorkflow({ workflow: { workflow: inner } }, { ...OPTIONS, product: 'n8n' });
    expect('fault' in twice && twice.fault.code).toBe('no_nodes');
    expect(faultOf({ hello: 1 })).toBe('unknown_product');
    for (const value of [null, 1, 'x', [], [[]]]) expect(faultOf(value)).toBe('unknown_product');
  });

  it.each([
    ['deep parentheses', `={{ ${'('.repeat(9_000)}$json.a${')'.repeat(9_000)} }}`],
    ['a long chain', `={{ $json${'.a'.repeat(9_000)} }}`],
    ['a long sum', `={{ $json.a${' + 1'.repeat(4_000)} }}`],
    ['many braces', `=${'{{ '.repeat(20_000)}`],
    ['ten megabytes', `={{ ${'a'.repeat(10_000_000)} }}`],
    ['prototype names', '={{ $json.__proto__.constructor }}'],
  ])('may contain an expression with %s', (_name, value) => {
    const result = read(
      n8n(
        {
          Start: START,
          Here: {
            type: 'set',
            version: 3.4,
            parameters: { assignments: { assignments: [{ name: 'x', type: 'string', value }] } },
          },
        },
        [['Start', 'Here']],
      ),
    );
    expect(flowOf(result).nodes.length).toBeGreaterThan(1);
  });

  it('may have hundreds of nodes that all read the first, all lead to the last, and belong to each other', () => {
    const numbers = Array.from({ length: 400 }, (_, index) => `N${index}`);
    const value = "={{ $('N0').item.json.a + $json.b }}";
    const parameters = { assignments: { assignments: [{ name: 'x', type: 'string', value }] } };
    const nodes = Object.fromEntries(
      numbers.map((name) => [name, { type: 'set', version: 3.4, parameters }]),
    );
    const chain = numbers.slice(1).map((name, index) => [`N${index}`, name] as const);
    const last = numbers.map((name) => [name, 'Last'] as const);
    const parts = numbers
      .slice(0, 20)
      .flatMap((from) => numbers.slice(0, 20).map((to) => [from, to, 'ai_tool'] as const));
    const all = n8n({ Start: START, ...nodes, Last: { type: 'ssh' } }, [
      ['Start', 'N0'],
      ...chain,
      ...last,
      ...parts,
    ]);
    expect(flowOf(read(all)).nodes.length).toBeGreaterThan(400);
  });

  it('may have a hundred triggers that lead to the same nodes', () => {
    const names = Array.from({ length: 100 }, (_, index) => `T${index}`);
    const triggers = Object.fromEntries(names.map((name) => [name, { type: 'webhook', version: 2 }]));
    const result = read(
      n8n(
        { ...triggers, End: { type: 'noOp' } },
        names.map((name) => [name, 'End'] as const),
      ),
    );
    expect(flowOf(result).nodes.filter(({ type }) => type === 'trigger.webhook')).toHaveLength(20);
    expect(outcomeOf(result, 'T99')).toMatchObject({ kind: 'dropped' });
  });

  it('may have JSON in a text that is nested deeply', () => {
    const jsonBody = `${'['.repeat(3000)}${']'.repeat(3000)}`;
    const parameters = {
      method: 'POST',
      url: 'https://api.example',
      sendBody: true,
      specifyBody: 'json',
      jsonBody,
    };
    const result = read(
      n8n({ Start: START, Call: { type: 'httpRequest', version: 4.2, parameters } }, [['Start', 'Call']]),
    );
    expect(configOf(result, 'Call')).toMatchObject({ body: jsonBody, body_type: 'text' });
  });

  it('may have odd names, cycles and connections to nowhere', () => {
    const odd = n8n(
      {
        __proto__x: START,
        constructor: { type: 'set' },
        'a b': { type: 'toString' },
        A: { type: 'merge' },
        B: { type: 'if' },
      },
      [
        ['__proto__x', 'constructor'],
        ['constructor', 'A'],
        ['A', 'A'],
        ['A', 'B'],
        ['B', 'constructor'],
        ['B', 'nowhere'],
      ],
    );
    const twice = { ...odd, nodes: [...(odd.nodes as JsonValue[]), ...(odd.nodes as JsonValue[])] };
    for (const value of [odd, twice]) flowOf(read(value));
    const broken = {
      nodes: [null, 1, { type: 'n8n-nodes-base.set' }, { name: 7, type: [], parameters: 3, position: 'x' }],
      connections: { a: 1, b: { main: [null, [null, {}]] } },
    };
    expect(read(broken).workflow).toBeNull();
  });
});
