import { describe, expect, test } from 'vitest';
import { readImport, readText } from './read-import.ts';

const FLOW = { nodes: [{ id: 'start', type: 'trigger.manual' }], edges: [] };

describe('readImport', () => {
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
    [JSON.stringify([{ flow_data: FLOW }, { flow_data: FLOW }]), { kind: 'several' }],
    [
      '{"name": "x", "nodes": [{"name": "Hook", "type": "n8n-nodes-base.webhook", "position": [0, 0]}], "connections": {}}',
      { kind: 'foreign', product: 'n8n' },
    ],
    ['{"nodes": [], "connections": {"a": {}}}', { kind: 'foreign', product: 'n8n' }],
    ['{"summary": "x", "value": {"modules": []}}', { kind: 'foreign', product: 'Windmill' }],
    ['{"version": "1.0", "state": {"blocks": {}, "edges": []}}', { kind: 'foreign', product: 'Sim' }],
  ])('refuses %s', (text, fault) => {
    expect(readImport(text)).toMatchObject({ fault });
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
