import type { KnownType, Point, Size } from '@millrace/editor-model/editor-state.ts';
import { isLoop } from '@millrace/editor-model/flow-value.ts';
import {
  absolutePosition,
  byIdOf,
  measureAll,
  NODE_HEIGHT,
  NODE_WIDTH,
} from '@millrace/editor-model/geometry.ts';
import { type Flow, type FlowNode, isJsonArray, type JsonObject, type JsonValue } from '@millrace/engine';
import { type SVGProps, useMemo } from 'react';
import { useNodeTypes } from './flow-view.tsx';
import { NodeIcon } from './node-icon.tsx';

/** Positions and frames are scaled; node icons at this scale would be unreadable. */
const SCALE = 0.36;
const NODE: Size = { width: NODE_WIDTH * SCALE, height: 28 };
const ICON = 15;
const MARGIN = 24;
/** Small flows aren't enlarged to the full width. */
const LEAST: Size = { width: 460, height: 170 };

interface Shape extends Point, Size {
  readonly node: FlowNode;
  readonly icon: string | undefined;
}

/** A small drawing of a flow's nodes and edges. Decorative: it shows nothing that the lists don't. */
export function FlowThumbnail({ flow }: { flow: JsonObject }) {
  const nodeTypes = useNodeTypes();
  const shapes = useMemo(() => shapesOf(listOf<FlowNode>(flow.nodes), nodeTypes), [flow, nodeTypes]);
  if (shapes.length === 0) return null;
  const byId = new Map(shapes.map((shape) => [shape.node.id, shape]));
  return (
    <svg viewBox={viewBoxOf(shapes)} width="100%" height="100%" aria-hidden="true" focusable="false">
      {shapes
        .filter(({ node }) => isLoop(node))
        .map((shape) => (
          <Frame key={shape.node.id} shape={shape} />
        ))}
      {listOf<Flow['edges'][number]>(flow.edges).map(({ source, target }, index) => {
        const [from, to] = [byId.get(source), byId.get(target)];
        if (from === undefined || to === undefined) return null;
        return (
          <path
            key={`${source} ${target} ${index}`}
            d={curve(from, to)}
            fill="none"
            stroke="var(--mantine-color-gray-5)"
            strokeWidth={1.5}
          />
        );
      })}
      {shapes
        .filter(({ node }) => !isLoop(node))
        .map((shape) => (
          <Step key={shape.node.id} shape={shape} />
        ))}
    </svg>
  );
}

function listOf<Item extends JsonValue>(value: JsonObject[string] | undefined): readonly Item[] {
  return value !== undefined && isJsonArray(value) ? (value as readonly Item[]) : [];
}

function shapesOf(nodes: readonly FlowNode[], nodeTypes: ReadonlyMap<string, KnownType>): readonly Shape[] {
  const byId = byIdOf(nodes);
  const sizes = measureAll({ nodes, placed: {}, handleCount: () => 1 });
  return nodes.map((node) => {
    const { x, y } = absolutePosition(node, byId, {});
    const size = sizes.get(node.id);
    const frame = { width: (size?.width ?? 0) * SCALE, height: (size?.height ?? 0) * SCALE };
    return {
      node,
      icon: nodeTypes.get(node.type)?.icon,
      x: x * SCALE,
      y: y * SCALE,
      ...(isLoop(node) ? frame : NODE),
    };
  });
}

function viewBoxOf(shapes: readonly Shape[]): string {
  const left = Math.min(...shapes.map(({ x }) => x));
  const top = Math.min(...shapes.map(({ y }) => y));
  const width = Math.max(...shapes.map((shape) => shape.x + shape.width)) - left;
  const height = Math.max(...shapes.map((shape) => shape.y + shape.height)) - top;
  const sides = Math.max(MARGIN, (LEAST.width - width) / 2);
  const ends = Math.max(MARGIN, (LEAST.height - height) / 2);
  return [left - sides, top - ends, width + 2 * sides, height + 2 * ends].join(' ');
}

function Step({ shape }: { shape: Shape }) {
  const { node, icon, x, y, width, height } = shape;
  const isTrigger = node.type.startsWith('trigger.');
  return (
    <g>
      <Outline
        shape={shape}
        rx={6}
        fill={isTrigger ? 'var(--mantine-primary-color-light)' : 'var(--mantine-color-body)'}
      />
      <g
        transform={`translate(${x + (width - ICON) / 2} ${y + (height - ICON) / 2})`}
        color="var(--mantine-primary-color-light-color)"
      >
        <NodeIcon name={icon} size={ICON} />
      </g>
    </g>
  );
}

function Frame({ shape }: { shape: Shape }) {
  const { icon, x, y } = shape;
  return (
    <g>
      <Outline
        shape={shape}
        rx={8}
        fill="var(--mantine-primary-color-light)"
        fillOpacity={0.5}
        strokeDasharray="5 3"
      />
      <g transform={`translate(${x + 8} ${y + 5})`} color="var(--mantine-color-dimmed)">
        <NodeIcon name={icon} size={11} />
      </g>
    </g>
  );
}

function Outline({ shape: { x, y, width, height }, ...look }: { shape: Shape } & SVGProps<SVGRectElement>) {
  return (
    <rect
      x={x}
      y={y}
      width={width}
      height={height}
      stroke="var(--mantine-color-default-border)"
      strokeWidth={1.5}
      {...look}
    />
  );
}

function curve(from: Shape, to: Shape): string {
  const [x1, y1] = [from.x + from.width, middleOf(from)];
  const [x2, y2] = [to.x, middleOf(to)];
  const bend = Math.max(12, Math.abs(x2 - x1) / 2);
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}

function middleOf({ node, y, height }: Shape): number {
  // Edges connect to a frame at its header, as on the canvas.
  return y + (isLoop(node) ? (NODE_HEIGHT * SCALE) / 2 : height / 2);
}
