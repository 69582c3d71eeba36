/** Three pure nodes and a trigger: values, a decision based on them, values again. */
export const THREE_NODES = {
  nodes: [
    { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 }, data: {} },
    {
      id: 'shape',
      type: 'core.set',
      position: { x: 200, y: 0 },
      data: { config: { values: { subject: 'Order {{trigger.data.id}}', total: '{{trigger.data.total}}' } } },
    },
    {
      id: 'large',
      type: 'core.if',
      position: { x: 400, y: 0 },
      data: {
        config: {
          conditions: [{ left: '{{nodes.shape.output.total}}', operator: 'greater_than', right: 1000 }],
        },
      },
    },
    {
      id: 'tell',
      type: 'core.set',
      position: { x: 600, y: 0 },
      data: { config: { values: { text: '{{nodes.shape.output.subject}} is large' } } },
    },
  ],
  edges: [
    { source: 'start', target: 'shape' },
    { source: 'shape', target: 'large' },
    { source: 'large', sourceHandle: 'true', target: 'tell' },
  ],
};

/** One pure node and a trigger. */
export const ONE_NODE = {
  nodes: THREE_NODES.nodes.slice(0, 2),
  edges: THREE_NODES.edges.slice(0, 1),
};

/** A trigger and one call that waits for its response. */
export function callOut(url: string) {
  return {
    nodes: [
      ...THREE_NODES.nodes.slice(0, 1),
      {
        id: 'call',
        type: 'http.request',
        position: { x: 200, y: 0 },
        data: { config: { method: 'POST', url, body: { id: '{{trigger.data.id}}' } } },
      },
    ],
    edges: [{ source: 'start', target: 'call' }],
  };
}

const INPUT = {
  input_data: {
    id: 4711,
    total: 1290.5,
    customer: { name: 'Kestrel Works', country: 'JP' },
    lines: [1, 2, 3],
  },
};

/** Input of every start; takes the `true` branch of {@link THREE_NODES}. */
export const INPUT_BODY = JSON.stringify(INPUT);

/** As many of them in one request. */
export function batchBody(items: number): string {
  return JSON.stringify({ items: Array.from({ length: items }, () => INPUT) });
}
