import { type Flow, findProblems, type JsonObject, type JsonValue } from '@millrace/engine';
import { type ImportResult, importWorkflow } from '@millrace/importer';
import { inEnglish } from '@millrace/messages/english';
import { registry } from '@millrace/nodes';
import { describe, expect, it } from 'vitest';

interface Sketch {
  readonly type: string;
  readonly version?: number;
  readonly parameters?: JsonObject;
}

/** Imports nodes of n8n, connected in their order. */
function read(sketches: { readonly [name: string]: Sketch }): ImportResult {
  const names = Object.keys(sketches);
  const nodes = Object.entries(sketches).map(([name, { type, version = 1, parameters = {} }]) => ({
    name,
    type: `n8n-nodes-base.${type}`,
    typeVersion: version,
    position: [0, 0],
    parameters,
  }));
  const connections = Object.fromEntries(
    names
      .slice(1)
      .map((name, index) => [names[index] ?? '', { main: [[{ node: name, type: 'main', index: 0 }]] }]),
  );
  const file: JsonValue = { name: 'Sketch', nodes, connections };
  const outcome = importWorkflow(file, { limits: { nodes: 500, depth: 100 }, name: 'File' });
  if ('fault' in outcome) throw new Error(inEnglish(outcome.fault.message));
  return outcome.result;
}

function flowOf({ workflow }: ImportResult): Flow {
  if (workflow === null) throw new Error('nothing was made');
  return workflow.flow_data as unknown as Flow;
}

const outcomeOf = ({ outcomes }: ImportResult, name: string) => outcomes.find(({ node }) => node === name);

describe('webhooks', () => {
  const hook = (parameters: JsonObject) => ({ type: 'webhook', version: 2, parameters });

  it('keep their methods, parameters and what is read of their calls', () => {
    const result = read({
      Hook: hook({ httpMethod: ['GET', 'PUT'], path: 'orders/:id', responseMode: 'onReceived' }),
      Read: {
        type: 'set',
        version: 3.4,
        parameters: {
          mode: 'manual',
          assignments: {
            assignments: [
              { name: 'a', type: 'string', value: '={{ $json.query.page }}' },
              { name: 'b', type: 'string', value: "={{ $json.headers['x-topic'] }}" },
              { name: 'c', type: 'string', value: '={{ $json.params.id }}' },
              { name: 'd', type: 'string', value: '={{ $json.body.order }}' },
            ],
          },
        },
      },
    });
    const { nodes } = flowOf(result);
    expect(nodes[0]?.data?.config).toEqual({
      methods: ['GET', 'PUT'],
      path: 'orders/:id',
      headers: ['x-topic'],
      query: ['page'],
    });
    expect(JSON.stringify(nodes[1]?.data?.config)).toContain('trigger.request.query.page');
    expect(JSON.stringify(nodes[1]?.data?.config)).toContain('trigger.data.order');
    expect(findProblems(flowOf(result), registry)).toEqual([]);
    expect(outcomeOf(result, 'Hook')?.kind).toBe('mapped');
  });

  it('never keep secrets, and lack the secret of their check', () => {
    const result = read({
      Hook: hook({ httpMethod: 'POST', authentication: 'headerAuth' }),
      Use: {
        type: 'set',
        version: 3.4,
        parameters: { mode: 'raw', jsonOutput: '={{ $json.headers.authorization }}' },
      },
    });
    const { nodes } = flowOf(result);
    expect(nodes[0]?.data?.config).toEqual({
      signature: { preset: 'token', credential_id: 0, location: 'header', name: '' },
    });
    expect(outcomeOf(result, 'Hook')?.kind).toBe('approximated');
    const gaps = findProblems(flowOf(result), registry);
    expect(gaps.map(({ code }) => code)).toEqual(['empty_config', 'empty_config']);
  });

  it('are answered in the middle, where Respond to Webhook stands', () => {
    const result = read({
      Hook: hook({ httpMethod: 'POST', responseMode: 'responseNode' }),
      Reply: {
        type: 'respondToWebhook',
        version: 1.1,
        parameters: {
          respondWith: 'text',
          responseBody: '=<p>{{ $json.body.name }}</p>',
          options: {
            responseCode: 201,
            responseHeaders: {
              entries: [
                { name: 'X-Name', value: '={{ $json.body.name }}' },
                { name: 'Set-Cookie', value: 'a=b' },
              ],
            },
          },
        },
      },
      After: { type: 'noOp' },
    });
    const { nodes } = flowOf(result);
    expect(nodes[0]?.data?.config).toEqual({ respond: 'by_node' });
    expect([nodes[1]?.type, nodes[1]?.data?.config]).toEqual([
      'webhook.respond',
      {
        format: 'html',
        status: 201,
        body: '<p>{{trigger.data.name}}</p>',
        headers: { 'X-Name': '{{trigger.data.name | string}}' },
      },
    ]);
    expect(outcomeOf(result, 'Reply')?.kind).toBe('approximated');
    expect(findProblems(flowOf(result), registry)).toEqual([]);
  });
});
