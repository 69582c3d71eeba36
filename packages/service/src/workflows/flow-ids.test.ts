import type { Flow } from '@millrace/engine';
import { nodes, registry } from '@millrace/nodes';
import { expect, test } from 'vitest';
import { changeFlowIds } from './flow-ids.ts';

const add = (_kind: string, id: number) => (id < 100 ? id + 100 : id);

function flowOf(type: string, config: object, settings: object = {}): Flow {
  return { nodes: [{ id: 'n', type, data: { config } }], edges: [], settings } as unknown as Flow;
}

function configAfter(type: string, config: object, settings: object = {}): unknown {
  return changeFlowIds(flowOf(type, config, settings), registry, add).nodes[0]?.data?.config;
}

test('ids change where the schema of the node says that there is one, at any depth', () => {
  expect(configAfter('flow.call', { workflow_id: 7, input: { workflow_id: 7 } })).toEqual({
    workflow_id: 107,
    input: { workflow_id: 7 },
  });
  const request = {
    url: 'https://a.example',
    auth: { type: 'credential', credential_id: 3 },
    body: { credential_id: 3 },
  };
  expect(configAfter('http.request', request)).toEqual({
    ...request,
    auth: { type: 'credential', credential_id: 103 },
  });
  const signature = { preset: 'hmac', credential_id: 3, previous_credential_id: 4 };
  expect(configAfter('trigger.webhook', { signature })).toEqual({
    signature: { ...signature, credential_id: 103, previous_credential_id: 104 },
  });
});

test('the tools of an agent are nodes and workflows, too', () => {
  const tools = [
    { kind: 'workflow', name: 'a', workflow_id: 7 },
    { kind: 'node', name: 'b', type: 'email.send', config: { credential_id: 5, text: '5' } },
  ];
  expect(configAfter('ai.agent', { credential_id: 1, tools })).toEqual({
    credential_id: 101,
    tools: [
      { kind: 'workflow', name: 'a', workflow_id: 107 },
      { kind: 'node', name: 'b', type: 'email.send', config: { credential_id: 105, text: '5' } },
    ],
  });
});

test('a constant that is read as an id changes once, and no other does', () => {
  const node = (id: string) => ({
    id,
    type: 'email.send',
    data: { config: { credential_id: '{{ vars.mail }}' } },
  });
  const flow = {
    nodes: [node('a'), node('b')],
    edges: [],
    settings: { vars: { mail: 5, limit: 5 } },
  } as unknown as Flow;
  expect(changeFlowIds(flow, registry, add).settings).toEqual({ vars: { mail: 105, limit: 5 } });
});

test('the error workflow changes; a flow that names nothing is the same object', () => {
  expect(changeFlowIds(flowOf('flow.call', {}, { error_workflow_id: 9 }), registry, add).settings).toEqual({
    error_workflow_id: 109,
  });
  const flow = flowOf('email.send', { credential_id: 0, text: 'workflow_id 7' });
  expect(changeFlowIds(flow, registry, add)).toBe(flow);
});

test('whatever a node calls the id of a credential or a workflow is marked in its schema', () => {
  const unmarked = nodes.flatMap(({ type, configSchema }) =>
    propertiesOf(configSchema).flatMap(([name, property]) => {
      const mark = name.endsWith('workflow_id') ? 'x-workflow' : 'x-credential';
      return /(^|_)(credential|workflow)_id$/.test(name) && !(mark in property) ? [`${type}: ${name}`] : [];
    }),
  );
  expect(unmarked).toEqual([]);
});

function propertiesOf(schema: unknown): [string, object][] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([keyword, value]): [string, object][] =>
    keyword === 'properties' && typeof value === 'object'
      ? [...Object.entries(value as object), ...Object.values(value as object).flatMap(propertiesOf)]
      : propertiesOf(value),
  );
}
