import type { NodeType } from '@millrace/editor-model/editor-state.ts';
import type { Schema } from '@millrace/editor-model/field-shape.ts';
import type { JsonObject } from '@millrace/engine';
import { nodes } from '@millrace/nodes';
import { describe, expect, test } from 'vitest';
import { addTool, toolOf } from './tools.ts';

function schemaOf(wanted: string): JsonObject {
  const node = nodes.find(({ type }) => type === wanted);
  if (node === undefined) throw new Error(`no node ${wanted}`);
  return node.configSchema as JsonObject;
}

const { items } = (schemaOf('ai.agent').properties as { tools: { items: Schema } }).tools;
const http = schemaOf('http.request');
const known = new Map([['http.request', { title: 'HTTP request', schema: http, node: {} as NodeType }]]);

describe('a new tool', () => {
  test('calls the node with its initial settings, and is named after it once', () => {
    const first = addTool(items, [], 'http.request', known);
    expect(first).toMatchObject({
      kind: 'node',
      name: 'http_request',
      description: '',
      type: 'http.request',
    });
    expect(first.config).toEqual({ url: '' });
    expect(first.parameters).toMatchObject({ type: 'object' });
    expect(addTool(items, [first], 'http.request', known).name).toBe('http_request_2');
  });

  test.each([
    ['12 Refund an order!', 'refund_an_order'],
    ['12 返金', 'workflow_12'],
    ['12 2nd try', 'nd_try'],
    ['12 json', 'workflow_12'],
    [`12 ${'long '.repeat(40)}`, 'long_'.repeat(12).slice(0, 60)],
  ])('calls a workflow: %s', (chosen, name) => {
    const tool = addTool(items, [], chosen, known);
    expect(tool).toMatchObject({ kind: 'workflow', workflow_id: 12, name });
    expect(tool.name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
  });
});

test('tools are shown whatever they hold', () => {
  expect(toolOf({ kind: 'workflow', workflow_id: '{{x}}', name: 7 })).toEqual({
    ...{ kind: 'workflow', name: '', description: '', type: '', config: {}, workflowId: 0 },
  });
});
