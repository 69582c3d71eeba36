import { describe, expect, test } from 'vitest';
import { type Import, readImports, readText } from './read-import.ts';

const FLOW = { nodes: [{ id: 'start', type: 'trigger.manual' }], edges: [] };

/** The only workflow in a text. */
function readImport(text: string): Import | undefined {
  const [only, ...others] = readImports(text);
  expect(others).toEqual([]);
  return only;
}

describe('readImports', () => {
  test('accepts an export, an API response, and a bare flow', () => {
    const detail = { id: 3, name: 'Orders', status: 'active', flow_data: FLOW, problems: [] };
    expect(readImport(JSON.stringify(detail))).toEqual({ workflow: detail });
    expect(readImport(JSON.stringify(FLOW))).toEqual({ workflow: { flow_data: FLOW } });
    expect(readImport(JSON.stringify({ name: 'Orders', ...FLOW }))).toEqual({
      workflow: { name: 'Orders', flow_data: FLOW },
    });
    expect(readImport(JSON.stringify([detail]))).toEqual({ workflow: detail });
  });

  test('keeps numbers beyond a double', () => {
    const read = readImport(
      '{"flow_data": {"nodes": [], "edges": [], "settings": {"vars": {"a": 9007199254740993}}}}',
    );
    expect(JSON.stringify(read)).toContain('9007199254740993');
  });

  test.each([
    ['{"name": "x"', { kind: 'no_json', at: { line: 1, column: 13 } }],
    ['"text"', { kind: 'no_workflow' }],
    ['{"name": "x"}', { kind: 'no_workflow' }],
    ['{"flow_data": []}', { kind: 'no_workflow' }],
    ['[]', { kind: 'no_workflow' }],
    ['{"summary": "x", "value": {"modules": []}}', { kind: 'foreign', product: 'Windmill' }],
    ['{"version": "1.0", "state": {"blocks": {}, "edges": []}}', { kind: 'foreign', product: 'Sim' }],
  ])('refuses %s', (text, fault) => {
    expect(readImport(text)).toMatchObject({ fault });
  });

  const hook = { name: 'Hook', type: 'n8n-nodes-base.webhook', position: [0, 0] };
  const original = { name: 'x', nodes: [hook], connections: {} };
  test.each([
    ['an export', original, original],
    ['a flow without nodes', { nodes: [], connections: { a: {} } }, { nodes: [], connections: { a: {} } }],
    ['copied nodes', [hook], { nodes: [hook], connections: {} }],
    ['one node', hook, { nodes: [hook], connections: {} }],
    ['one in a member of ours', { name: 'y', flow_data: original }, original],
  ])('leaves what comes from n8n to the service: %s', (_what, value, expected) => {
    expect(readImport(JSON.stringify(value))).toEqual({ original: expected });
  });

  test('leaves what comes from Dify and Flowise to the service, YAML as its text', () => {
    const text = 'app:\n  name: x\nkind: app\nworkflow:\n  graph: {}\n';
    expect(readImport(text)).toEqual({ original: text });
    const app = { app: { name: 'x' }, kind: 'app', workflow: { graph: { nodes: [] } } };
    expect(readImport(JSON.stringify(app))).toEqual({ original: app });
    const flow = { nodes: [{ id: 'a', type: 'agentFlow', data: { name: 'startAgentflow' } }], edges: [] };
    expect(readImport(JSON.stringify(flow))).toEqual({ original: flow });
    expect(readImport('some: yaml\nof: another kind')).toMatchObject({ fault: { kind: 'no_json' } });
  });

  test('reads each workflow of a list, and of a response that has one', () => {
    const list = [{ flow_data: FLOW }, original, { name: 'neither' }];
    const read = [{ workflow: { flow_data: FLOW } }, { original }, { fault: { kind: 'no_workflow' } }];
    expect(readImports(JSON.stringify(list))).toEqual(read);
    expect(readImports(JSON.stringify({ data: list, nextCursor: null }))).toEqual(read);
  });
});

describe('readText', () => {
  const bytes = (...values: readonly number[]) => Uint8Array.from(values).buffer;

  test('accepts any text, including one with replacement characters or a byte order mark', () => {
    for (const text of ['{"a": "\uFFFD"}', 'größe 日本 \u{1F600}', '']) {
      expect(readText(new TextEncoder().encode(text).buffer)).toBe(text);
    }
    expect(readText(bytes(0xef, 0xbb, 0xbf, 0x7b, 0x7d))).toBe('{}');
  });

  test('refuses bytes that are not text', () => {
    expect(readText(bytes(0x89, 0x50, 0x4e, 0x47))).toBeNull();
    expect(readText(bytes(0x50, 0x4b, 3, 4, 0, 0))).toBeNull();
  });
});
