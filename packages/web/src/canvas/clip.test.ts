import { describe, expect, test } from 'vitest';
import { readClip } from './clip.ts';

const NODE = { id: 'a', type: 'core.set' };

describe('readClip', () => {
  test.each([
    ['nodes and edges', { nodes: [NODE], edges: [] }],
    ['a workflow as it is exported', { name: 'x', flow_data: { nodes: [NODE], edges: [] } }],
    ['a list of nodes', [NODE]],
    ['one node', NODE],
  ])('takes %s', (_what, value) => {
    expect(readClip(JSON.stringify(value))).toEqual({ clip: { nodes: [NODE], edges: [] }, leftOut: 0 });
  });

  test('takes what stands between three backticks, as manuals and chats show it', () => {
    const text = `\`\`\`json\n${JSON.stringify([NODE], null, 2)}\n\`\`\`\n`;
    expect(readClip(text)).toMatchObject({ clip: { nodes: [NODE] } });
  });

  test('takes the notes of a workflow, too', () => {
    const note = {
      id: 'n',
      text: 'x',
      position: { x: 0, y: 0 },
      size: { width: 1, height: 1 },
      colour: 'blue',
    };
    const read = readClip(JSON.stringify({ nodes: [NODE], edges: [], settings: { notes: [note] } }));
    expect(read).toMatchObject({ clip: { notes: [note] } });
  });

  test('counts what it cannot take', () => {
    const edges = [{ source: 'a', target: 'gone' }, { source: 'a' }];
    expect(readClip(JSON.stringify({ nodes: [NODE, { id: 'b' }], edges }))).toEqual({
      clip: { nodes: [NODE], edges: [] },
      leftOut: 3,
    });
  });

  test('tells where JSON is broken', () => {
    expect(readClip('{\n  "nodes": [,]\n}')).toEqual({ fault: 'brokenJson', at: { line: 2, column: 13 } });
    expect(readClip('{"nodes": [')).toEqual({ fault: 'brokenJson', at: { line: 1, column: 12 } });
    expect(readClip('{"nodes": [],}')).toEqual({ fault: 'brokenJson', at: { line: 1, column: 14 } });
    expect(readClip('{"nodes": "a\nb"}')).toEqual({ fault: 'brokenJson', at: { line: 1, column: 11 } });
    expect(readClip('{"nodes": 01}')).toEqual({ fault: 'brokenJson', at: { line: 1, column: 11 } });
    expect(readClip("{'nodes': []}")).toEqual({ fault: 'brokenJson', at: { line: 1, column: 2 } });
    expect(readClip('{"nodes": []} x')).toEqual({ fault: 'brokenJson', at: { line: 1, column: 15 } });
  });

  test('finds a mistake in every text that is no JSON, at or before where a reader notices', () => {
    const json = JSON.stringify({ a: [1, -2.5e3, null, true, 'x"\\é'], b: {} });
    for (let at = 1; at < json.length; at += 1) {
      expect(readClip(json.slice(0, at))).toMatchObject({ fault: 'brokenJson', at: { line: 1 } });
    }
  });

  test('tells JSON of something else from a text that is none', () => {
    expect(readClip('{"name": "x"}')).toEqual({ fault: 'noNodes' });
    expect(readClip('hello')).toEqual({ fault: 'noJson' });
  });
});
