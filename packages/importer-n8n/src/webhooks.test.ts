import { findProblems, type JsonObject } from '@millrace/engine';
import { registry } from '@millrace/nodes';
import { describe, expect, it } from 'vitest';
import { configOf, flowOf, n8n, outcomeOf, read as readFile, type Sketch } from './testing.ts';

/** Imports nodes of n8n, connected in their order. */
function read(sketches: { readonly [name: string]: Sketch }) {
  const names = Object.keys(sketches);
  return readFile(
    n8n(
      sketches,
      names.slice(1).map((name, index) => [names[index] ?? '', name]),
    ),
  );
}

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
    expect(JSON.stringify(configOf(result, 'Read'))).toContain('trigger.request.query.page');
    expect(JSON.stringify(configOf(result, 'Read'))).toContain('trigger.data.order');
    expect(findProblems(flowOf(result), registry)).toEqual([]);
    expect(outcomeOf(result, 'Hook')).toMatchObject({ what: [{ key: 'import.post_accepted' }] });
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

describe('a webhook with several methods', () => {
  const NEXT: Sketch = { type: 'noOp' };
  /** Imports a webhook whose outputs lead to these nodes. */
  const leading = (parameters: JsonObject, ...outputs: readonly (readonly string[])[]) => {
    const names = [...new Set(outputs.flat())];
    const hook: Sketch = { type: 'webhook', version: 2.1, parameters };
    const main = outputs.map((targets) => targets.map((node) => ({ node, type: 'main', index: 0 })));
    const nodes = Object.fromEntries(names.map((name) => [name, NEXT]));
    return readFile({ ...n8n({ Hook: hook, ...nodes }, []), connections: { Hook: { main } } });
  };
  /** Which branch of the Switch leads to a node. */
  const branchesTo = (result: ReturnType<typeof leading>, label: string) => {
    const { nodes, edges } = flowOf(result);
    const idOf = (name: string) => nodes.find(({ data }) => data?.label === name)?.id;
    return edges
      .filter(({ target }) => target === idOf(label))
      .map(({ source, sourceHandle }) => (source === idOf('Hook: method') ? sourceHandle : source));
  };

  it('takes the branch of the method', () => {
    const result = leading({ httpMethod: ['GET', 'POST', 'PUT'] }, ['Show'], ['Store'], ['Store', 'Tell']);
    expect(configOf(result, 'Hook')).toEqual({ methods: ['GET', 'POST', 'PUT'] });
    expect(configOf(result, 'Hook: method')?.cases).toEqual(
      ['GET', 'POST', 'PUT'].map((name) => ({
        name,
        conditions: [{ left: '{{trigger.request.method}}', operator: 'equals', right: name }],
      })),
    );
    expect(['Show', 'Store', 'Tell'].map((name) => branchesTo(result, name))).toEqual([
      ['GET'],
      ['POST', 'PUT'],
      ['PUT'],
    ]);
    expect(outcomeOf(result, 'Hook')?.kind).toBe('mapped');
    expect(findProblems(flowOf(result), registry)).toEqual([]);
  });

  it('takes no branch for a method whose output leads nowhere', () => {
    const result = leading({ httpMethod: ['GET', 'POST'] }, [], ['Store']);
    expect(branchesTo(result, 'Store')).toEqual(['POST']);
  });

  it('needs no branches if all methods lead to the same', () => {
    // n8n leaves out what is the default: GET and POST.
    const result = leading({ multipleMethods: true }, ['Store', 'Tell'], ['Tell', 'Store']);
    expect(configOf(result, 'Hook')).toEqual({ methods: ['GET', 'POST'] });
    expect(configOf(result, 'Hook: method')).toBeUndefined();
    expect(branchesTo(result, 'Store')).toEqual(['hook']);
  });

  it('is told from other triggers that lead to the same', () => {
    const connections = {
      Hook: { main: ['Show', 'Store'].map((node) => [{ node, type: 'main', index: 0 }]) },
      Show: { main: [[{ node: 'Both', type: 'main', index: 0 }]] },
      Store: { main: [[{ node: 'Both', type: 'main', index: 0 }]] },
      Manual: { main: [[{ node: 'Both', type: 'main', index: 0 }]] },
    };
    const set: Sketch = { type: 'set', version: 3.4, parameters: {} };
    const hook: Sketch = { type: 'webhook', version: 2.1, parameters: { httpMethod: ['GET', 'PUT'] } };
    const nodes = { Hook: hook, Manual: { type: 'manualTrigger' }, Show: set, Store: set, Both: NEXT };
    const result = readFile({ ...n8n(nodes, []), connections });
    // One of the three, not a list of all of them.
    expect(configOf(result, 'Both: input')?.values).toEqual({ item: expect.stringContaining('default:') });
  });
});
