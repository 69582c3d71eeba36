/** A node of a test's flow: id, type and `data`. */
export type TestNode = readonly [id: string, type: string, data?: object];

/** A flow of a manual trigger `start` and these nodes. Edges are written `from>to` or `from:handle>to`. */
export function flowOf(nodes: readonly TestNode[], edges: readonly string[], settings: object = {}): object {
  return {
    nodes: [
      { id: 'start', type: 'trigger.manual', data: {} },
      ...nodes.map(([id, type, data = {}]) => ({ id, type, data })),
    ],
    edges: edges.map(toEdge),
    settings,
  };
}

/** A chain of effect nodes, each with the behaviour named after its id. */
export function chainOf(...ids: readonly string[]): object {
  const nodes = ids.map((id): TestNode => [id, 'test.effect', { config: { do: id } }]);
  const edges = ids.map((id, index) => `${ids[index - 1] ?? 'start'}>${id}`);
  return flowOf(nodes, edges);
}

function toEdge(text: string, index: number): object {
  const [from = '', target = ''] = text.split('>');
  const [source = '', sourceHandle] = from.split(':');
  return { id: `e${index}`, source, target, ...(sourceHandle === undefined ? {} : { sourceHandle }) };
}
