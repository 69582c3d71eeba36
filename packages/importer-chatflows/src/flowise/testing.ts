import type { JsonObject, JsonValue } from '@millrace/engine';

/** `id: [type, settings, parent]` */
export type Sketch = {
  readonly [id: string]: readonly [type: string, data?: JsonObject, parent?: string | undefined];
};

/** A flow of agents of Flowise. A link is `from > to` or `from.output > to`. */
export function agentflow(nodes: Sketch, links: readonly string[]): JsonObject {
  return {
    nodes: Object.entries(nodes).map(([id, [kind, inputs = {}, parent = null]], index) => ({
      id,
      type: kind === 'iteration' ? 'iteration' : 'agentFlow',
      position: { x: index * 300, y: 0 },
      data: { id, label: id, name: `${kind}Agentflow`, category: 'Agent Flows', inputs },
      parentNode: parent,
    })),
    edges: links.map((link, index) => {
      const [from = '', target = ''] = link.split(' > ');
      const [source = '', output = 'out'] = from.split('.');
      const handles = { sourceHandle: `${source}-output-${output}`, targetHandle: target };
      return { id: String(index), source, target, type: 'agentFlow', ...handles };
    }),
  };
}

/** A flow of components of Flowise. A link is `part > component.input`. */
export function chatflow(
  nodes: { readonly [id: string]: readonly [string, string, JsonObject?] },
  links: readonly string[],
): JsonValue {
  return {
    nodes: Object.entries(nodes).map(([id, [name, category, inputs = {}]], index) => ({
      id,
      type: 'customNode',
      position: { x: index * 300, y: 0 },
      data: { id, label: id, name, category, inputs },
    })),
    edges: links.map((link, index) => {
      const [source = '', to = ''] = link.split(' > ');
      const [target = '', input = ''] = to.split('.');
      const handles = { sourceHandle: `${source}-output-x-Y|Z`, targetHandle: `${target}-input-${input}-Y` };
      return { id: String(index), source, target, type: 'buttonedge', ...handles };
    }),
  };
}
