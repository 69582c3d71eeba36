import type { CanvasNode } from '@millrace/editor-model/display.ts';
import type { Size } from '@millrace/editor-model/editor-state.ts';
import { boundsOf, createMapNodes } from '@millrace/editor-model/map-nodes.ts';
import { Panel, type Rect, useReactFlow, useStore } from '@xyflow/react';
import { memo, type PointerEvent, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { HeldViewport } from './held-viewport.ts';

const WIDTH = 168;
const HEIGHT = 116;
/** Pixels of the map around the flow. */
const MARGIN = 5;
/** The map without its border. */
const INSIDE = { width: WIDTH - 2, height: HEIGHT - 2 } as const;
/** Pixels of a wheel after which the zoom has doubled, and how many pixels a line and a page are. */
const WHEEL_DOUBLES = 500;
const WHEEL_PIXELS = [1, 25, 500];

interface Pressed {
  readonly pointer: number;
  readonly x: number;
  readonly y: number;
}

/**
 * The minimap: pulling it moves the canvas, the wheel zooms. React Flow's own has an element for each node, and each of them looks at every step of
 * a pan and of a drag.
 */
export function FlowMap({
  nodes,
  viewport,
  label,
}: {
  nodes: readonly CanvasNode[];
  viewport: HeldViewport;
  label: string;
}) {
  const { width, height } = useStore(sizeOf, isSameSize);
  const { x, y, zoom } = useSyncExternalStore(viewport.subscribe, viewport.get);
  const { getViewport, setViewport, zoomTo } = useReactFlow();
  const view = { x: -x / zoom, y: -y / zoom, width: width / zoom, height: height / zoom };
  const flow = useMemo(() => boundsOf(nodes), [nodes]);
  const whole = flow === null ? view : around(flow, view);
  const scale = Math.max(whole.width / WIDTH, whole.height / HEIGHT);
  const frame = {
    x: whole.x + whole.width / 2 - scale * (WIDTH / 2 + MARGIN),
    y: whole.y + whole.height / 2 - scale * (HEIGHT / 2 + MARGIN),
    width: scale * (WIDTH + 2 * MARGIN),
    height: scale * (HEIGHT + 2 * MARGIN),
  };
  const seen = placeOnMap(view, frame);

  const hand = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = hand.current;
    // React's listeners couldn't keep the page from scrolling.
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      event.stopPropagation();
      const turned = event.deltaY * (WHEEL_PIXELS[event.deltaMode] ?? 1);
      void zoomTo(getViewport().zoom * 2 ** (-turned / WHEEL_DOUBLES));
    };
    element?.addEventListener('wheel', onWheel, { passive: false });
    return () => element?.removeEventListener('wheel', onWheel);
  }, [getViewport, zoomTo]);

  const pressed = useRef<Pressed | null>(null);
  const press = ({ currentTarget, pointerId, clientX, clientY, button }: PointerEvent) => {
    if (button !== 0 || pressed.current !== null) return;
    currentTarget.setPointerCapture(pointerId);
    pressed.current = { pointer: pointerId, x: clientX, y: clientY };
  };
  const pull = ({ pointerId, clientX, clientY }: PointerEvent) => {
    const from = pressed.current;
    if (from?.pointer !== pointerId) return;
    pressed.current = { pointer: pointerId, x: clientX, y: clientY };
    const { x, y, zoom } = getViewport();
    const moved = scale * zoom;
    void setViewport({ x: x - (clientX - from.x) * moved, y: y - (clientY - from.y) * moved, zoom });
  };
  const release = ({ pointerId }: PointerEvent) => {
    if (pressed.current?.pointer === pointerId) pressed.current = null;
  };
  return (
    <Panel
      position="bottom-right"
      className="react-flow__minimap"
      style={{ width: WIDTH, height: HEIGHT }}
      data-testid="flow-map"
    >
      <svg
        className="flow-map-nodes"
        viewBox={`${frame.x} ${frame.y} ${frame.width} ${frame.height}`}
        aria-hidden
      >
        <MapNodes nodes={nodes} />
      </svg>
      <div
        ref={hand}
        className="flow-map-view"
        role="img"
        aria-label={label}
        onPointerDown={press}
        onPointerMove={pull}
        onPointerUp={release}
        onPointerCancel={release}
      >
        {/* Only its transform changes while the canvas is moved: anything else would have the whole page painted for each frame. */}
        <svg
          className="flow-map-mask"
          style={{ transform: `translate(${seen.x}px, ${seen.y}px)` }}
          aria-hidden
        >
          <path
            className="react-flow__minimap-mask"
            d={`${outline(AROUND)}${outline({ ...seen, x: 0, y: 0 })}`}
            fillRule="evenodd"
          />
        </svg>
      </div>
    </Panel>
  );
}

const MapNodes = memo(function MapNodes({ nodes }: { nodes: readonly CanvasNode[] }) {
  const [draw] = useState(createMapNodes);
  return draw(nodes).map(({ id, className, path }) => (
    <path key={id} className={`react-flow__minimap-node ${className}`} d={path} shapeRendering="crispEdges" />
  ));
});

/** The canvas, in pixels. */
function sizeOf({ width, height }: Size): Size {
  return { width, height };
}

function isSameSize(a: Size, b: Size): boolean {
  return a.width === b.width && a.height === b.height;
}

/** Reaches beyond all sides of the map, wherever what is seen is. */
const AROUND: Rect = { x: -2 * WIDTH, y: -2 * HEIGHT, width: 4 * WIDTH, height: 4 * HEIGHT };

/** Where a part of the flow is on the map, in pixels. */
function placeOnMap(part: Rect, frame: Rect): Rect {
  const scale = Math.min(INSIDE.width / frame.width, INSIDE.height / frame.height);
  return {
    x: (INSIDE.width - scale * frame.width) / 2 + scale * (part.x - frame.x),
    y: (INSIDE.height - scale * frame.height) / 2 + scale * (part.y - frame.y),
    width: scale * part.width,
    height: scale * part.height,
  };
}

function around(a: Rect, b: Rect): Rect {
  const [x, y] = [Math.min(a.x, b.x), Math.min(a.y, b.y)];
  return {
    x,
    y,
    width: Math.max(a.x + a.width, b.x + b.width) - x,
    height: Math.max(a.y + a.height, b.y + b.height) - y,
  };
}

function outline({ x, y, width, height }: Rect): string {
  return `M${x},${y}h${width}v${height}h${-width}z`;
}
