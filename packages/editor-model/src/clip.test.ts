import { describe, expect, test } from 'vitest';
import { pasteClip, readClip } from './clip.ts';
import { takeApart } from './flow-value.ts';

const NODE = { id: 'a', type: 'core.set' };

describe('readClip', () => {
  test.each([
    ['nodes and edges', { nodes: [NODE], edges: [] }],
    ['a workflow as it is exported', { name: 'x', flow_data: { nodes: [NODE], edges: [] } }],
    ['a list of nodes', [NODE]],
    ['one node', NODE],
  ])('takes %s', (_what, value) => {
    expect(readClip(JSON.stringify(value))).toEqual({
      ...{ clip: { nodes: [NODE], edges: [] }, leftOut: 0, settings: {} },
    });
  });

  test('accepts text between three backticks, as manuals and chats show it', () => {
    const text = `\`\`\`json\n${JSON.stringify([NODE], null, 2)}\n\`\`\`\n`;
    expect(readClip(text)).toMatchObject({ clip: { nodes: [NODE] } });
  });

  test('accepts the notes of a workflow, too, and returns its settings', () => {
    const note = {
      id: 'n',
      text: 'x',
      position: { x: 0, y: 0 },
      size: { width: 1, height: 1 },
      colour: 'blue',
    };
    const settings = { notes: [note], timezone: 'Asia/Tokyo' };
    const read = readClip(JSON.stringify({ nodes: [NODE], edges: [], settings }));
    expect(read).toMatchObject({ clip: { notes: [note] } });
    expect(read).toHaveProperty('settings', { timezone: 'Asia/Tokyo' });
  });

  test('counts what it leaves out', () => {
    const edges = [{ source: 'a', target: 'gone' }, { source: 'a' }];
    expect(readClip(JSON.stringify({ nodes: [NODE, { id: 'b' }], edges }))).toEqual({
      clip: { nodes: [NODE], edges: [] },
      leftOut: 3,
      settings: {},
    });
  });

  test('returns invalid JSON, in which the mistake can be looked for', () => {
    const json = '{\n  "nodes": [,]\n}';
    expect(readClip(json)).toEqual({ fault: 'brokenJson', json });
    expect(readClip('```json\n{"nodes": [\n```')).toEqual({ fault: 'brokenJson', json: '{"nodes": [' });
  });

  test.each([
    [
      'nodes',
      {
        nodes: [{ id: '1', name: 'Hook', type: 'n8n-nodes-base.webhook', position: [0, 0] }],
        connections: {},
      },
    ],
    [
      'nodes without their connections',
      { nodes: [{ id: '1', type: '@n8n/n8n-nodes-langchain.agent', position: [0, 0] }] },
    ],
    ['a list of nodes', [{ id: '1', type: 'n8n-nodes-base.set' }]],
    ['one node', { id: '1', type: 'n8n-nodes-base.set' }],
  ])('recognises nodes copied from n8n: %s', (_what, value) => {
    expect(readClip(JSON.stringify(value))).toEqual({
      ...{ fault: 'foreign', product: 'n8n' },
      json: JSON.stringify(value),
    });
  });

  test("distinguishes other JSON from text that isn't JSON", () => {
    expect(readClip('{"name": "x"}')).toEqual({ fault: 'noNodes' });
    expect(readClip('hello')).toEqual({ fault: 'noJson' });
  });
});

describe('pasteClip', () => {
  /** What a node's string becomes when pasted with these nodes next to nodes with the same ids. */
  function pasted(text: string, ...ids: readonly string[]): unknown {
    const nodes = ids.map((id) => ({ id, type: 'core.set' }));
    const reader = { id: 'reader', type: 'core.set', data: { config: { values: { text } } } };
    const { value } = pasteClip(
      takeApart({ nodes, edges: [] }),
      { nodes: [...nodes, reader], edges: [] },
      undefined,
      undefined,
    );
    const config = value.nodes.find(({ id }) => id === 'reader')?.data?.config as {
      values: { text: unknown };
    };
    return config.values.text;
  }

  test.each([
    ['{{nodes.fetch.output}}', '{{nodes.fetch_2.output}}'],
    ["{{nodes['fetch'].output}}", "{{nodes['fetch_2'].output}}"],
    [
      '{{ nodes[ "fetch" ].output | default: nodes.fetch.output.a }}',
      '{{ nodes["fetch_2"].output | default: nodes.fetch_2.output.a }}',
    ],
    // Names that only share a prefix, or appear elsewhere, are left alone.
    [
      '{{nodes.fetch-all.output}} {{trigger.nodes.fetch}}',
      '{{nodes.fetch-all.output}} {{trigger.nodes.fetch}}',
    ],
    ['nodes.fetch \\{{nodes.fetch}}', 'nodes.fetch \\{{nodes.fetch}}'],
    ['{{trigger.data | default: "nodes.fetch"}}', '{{trigger.data | default: "nodes.fetch"}}'],
    ['{{nodes.größe.output}} {{nodes.gr.output}}', '{{nodes.größe.output}} {{nodes.gr_2.output}}'],
  ])('renames references to a renamed node in %s, and nothing else', (text, expected) => {
    expect(pasted(text, 'fetch', 'gr')).toBe(expected);
  });

  test('numbers beyond a double are pasted as copied', () => {
    const text =
      '{"nodes":[{"id":"a","type":"core.set","data":{"config":{"values":{"id":9007199254740993}}}}]}';
    const read = readClip(text);
    if (!('clip' in read)) throw new Error('not read');
    const empty = takeApart({ nodes: [], edges: [] });
    const { value } = pasteClip(empty, read.clip, undefined, undefined);
    expect(
      JSON.stringify(pasteClip(value, read.clip, undefined, undefined).value).match(/9007199254740993/g),
    ).toHaveLength(2);
  });
});
