/** A runnable flow: a manual trigger and a node that sets a field. */
export const RUNNABLE_FLOW = {
  nodes: [
    { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 }, data: {} },
    { id: 'set', type: 'core.set', position: { x: 200, y: 0 }, data: { config: { values: { done: true } } } },
  ],
  edges: [{ id: 'e1', source: 'start', target: 'set' }],
};

/** A flow with a webhook trigger. */
export const WEBHOOK_FLOW = {
  ...RUNNABLE_FLOW,
  nodes: [{ id: 'start', type: 'trigger.webhook', data: {} }, ...RUNNABLE_FLOW.nodes.slice(1)],
};

/** A flow that can be saved but not activated. */
export const UNFINISHED_FLOW = { nodes: [], edges: [] };
