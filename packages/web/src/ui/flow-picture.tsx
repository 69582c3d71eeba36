import { type Flow, isJsonArray, type JsonObject } from '@millrace/engine';

const WIDTH = 60;
const HEIGHT = 26;
const MARGIN = 30;

interface Box {
  readonly id: string;
  readonly type: string;
  readonly x: number;
  readonly y: number;
}

/** A small drawing of a flow: where its nodes stand and how they are joined. Decoration: it says nothing a list does not. */
export function FlowPicture({ flow }: { readonly flow: JsonObject }) {
  const { nodes, edges } = partsOf(flow);
  const boxes = placeBoxes(nodes);
  if (boxes.length === 0) return null;
  const byId = new Map(boxes.map((box) => [box.id, box]));
  const left = Math.min(...boxes.map(({ x }) => x)) - MARGIN;
  const top = Math.min(...boxes.map(({ y }) => y)) - MARGIN;
  const width = Math.max(...boxes.map(({ x }) => x)) + WIDTH + MARGIN - left;
  const height = Math.max(...boxes.map(({ y }) => y)) + HEIGHT + MARGIN - top;
  return (
    <svg
      viewBox={`${left} ${top} ${width} ${height}`}
      width="100%"
      height="100%"
      aria-hidden="true"
      focusable="false"
    >
      {edges.map(({ source, target }, index) => {
        const [from, to] = [byId.get(source), byId.get(target)];
        if (from === undefined || to === undefined) return null;
        return (
          <path
            key={`${source} ${target} ${index}`}
            d={curve(from, to)}
            fill="none"
            stroke="var(--mantine-color-gray-5)"
            strokeWidth={2}
          />
        );
      })}
      {boxes.map(({ id, type, x, y }) => (
        <rect
          key={id}
          x={x}
          y={y}
          width={WIDTH}
          height={HEIGHT}
          rx={type.startsWith('trigger.') ? HEIGHT / 2 : 5}
          fill={
            type.startsWith('trigger.') ? 'var(--mantine-primary-color-light)' : 'var(--mantine-color-body)'
          }
          stroke="var(--mantine-primary-color-filled)"
          strokeWidth={1.5}
        />
      ))}
    </svg>
  );
}

function partsOf(flow: JsonObject): Pick<Flow, 'nodes' | 'edges'> {
  const { nodes = [], edges = [] } = flow;
  return {
    nodes: (isJsonArray(nodes) ? nodes : []) as unknown as Flow['nodes'],
    edges: (isJsonArray(edges) ? edges : []) as unknown as Flow['edges'],
  };
}

/** Real nodes are about 240 wide; the picture keeps their places and draws them smaller. */
const SCALE = 0.36;

function placeBoxes(nodes: Flow['nodes']): Box[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const placeOf = (id: string, depth = 0): { x: number; y: number } => {
    const node = byId.get(id);
    const own = node?.position ?? { x: 0, y: 0 };
    if (node?.parentId == null || depth > 20) return own;
    const parent = placeOf(node.parentId, depth + 1);
    return { x: parent.x + own.x, y: parent.y + own.y };
  };
  return nodes.map(({ id, type }) => {
    const { x, y } = placeOf(id);
    return { id, type, x: x * SCALE, y: y * SCALE };
  });
}

function curve(from: Box, to: Box): string {
  const [x1, y1] = [from.x + WIDTH, from.y + HEIGHT / 2];
  const [x2, y2] = [to.x, to.y + HEIGHT / 2];
  const bend = Math.max(12, Math.abs(x2 - x1) / 2);
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}
