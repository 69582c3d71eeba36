import type { JsonObject, JsonValue } from '@millrace/engine';

/** `id: [type, data, parent]` */
export type Sketch = {
  readonly [id: string]: readonly [type: string, data?: JsonObject, parent?: string | undefined];
};

/** An app of Dify with these nodes. A link is `from > to` or `from.handle > to`. */
export function dify(
  nodes: Sketch,
  links: readonly string[],
  { mode = 'workflow', ...more }: { readonly mode?: string; readonly [name: string]: JsonValue } = {},
): JsonObject {
  return {
    app: { mode, name: 'Sketch' },
    kind: 'app',
    version: '0.3.0',
    workflow: {
      ...more,
      graph: {
        nodes: Object.entries(nodes).map(([id, [type, data = {}, parent]], index) => ({
          id,
          type: 'custom',
          position: { x: index * 300, y: 0 },
          data: { title: id, type, ...data },
          ...(parent === undefined ? {} : { parentId: parent }),
        })),
        edges: links.map((link, index) => {
          const [from = '', to = ''] = link.split(' > ');
          const [source = '', handle = 'source'] = from.split('.');
          return { id: String(index), source, sourceHandle: handle, target: to, targetHandle: 'target' };
        }),
      },
    },
  };
}
