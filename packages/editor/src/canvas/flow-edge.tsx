import { FINGER, fromCanvasId } from '@millrace/editor-model/canvas-id.ts';
import type { CanvasEdge } from '@millrace/editor-model/display.ts';
import type { EdgeLine } from '@millrace/editor-model/edge-routing.ts';
import type { Point } from '@millrace/editor-model/editor-state.ts';
import { BaseEdge, type EdgeProps, getBezierPath, useStore } from '@xyflow/react';
import { createContext, memo, type ReactNode, useContext, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { DropTarget } from './flow-node.tsx';
import { EdgeRouting } from './use-edge-routing.ts';

/** Actions on an edge; null in read-only flows. */
export const EdgeActions = createContext<{
  readonly insert: (edgeKey: string) => void;
  readonly remove: (edgeKey: string) => void;
} | null>(null);

type End = 'sourceX' | 'sourceY' | 'targetX' | 'targetY';

/** Pixels. Shorter edges show their buttons above, so that the ends can still be dragged; touch needs more room. */
const SHORT = { mouse: 84, finger: 118 } as const;

/** An edge; on hover or selection, with buttons to insert a node and to remove it. */
export const FlowEdgeView = memo(function FlowEdgeView(props: EdgeProps<CanvasEdge>) {
  const { id, data, selected = false, ...ends } = props;
  const actions = useContext(EdgeActions);
  // The buttons of hundreds of edges would be thousands of elements.
  const [isPointed, setIsPointed] = useState(false);
  const key = fromCanvasId(id);
  const isTarget = useContext(DropTarget) === key;
  const state = data?.isTaken === true ? 'is-taken' : data?.isDead === true ? 'is-dead' : '';
  const drawLine = ({ path, middle: { x, y } }: EdgeLine) => (
    <>
      <BaseEdge id={id} path={path} interactionWidth={18} />
      {actions !== null && (isPointed || selected) && (
        <EdgeTools
          x={x}
          y={y - liftOf(ends)}
          onInsert={() => actions.insert(key)}
          onRemove={() => actions.remove(key)}
        />
      )}
    </>
  );
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: see below
    <g
      className={`flow-edge ${state} ${selected ? 'is-selected' : ''} ${isTarget ? 'is-target' : ''}`}
      onMouseEnter={() => setIsPointed(true)}
      onMouseLeave={() => setIsPointed(false)}
    >
      {data === undefined || data.loop === '' ? (
        <EdgeRoute {...ends} drawLine={drawLine} />
      ) : (
        <EdgeRouteInLoop {...ends} loop={data.loop} drawLine={drawLine} />
      )}
    </g>
  );
});

interface RouteProps extends Pick<EdgeProps, End | 'sourcePosition' | 'targetPosition'> {
  drawLine: (line: EdgeLine) => ReactNode;
}

function EdgeRouteInLoop({ loop, ...props }: RouteProps & { loop: string }) {
  const origin = useStore(({ nodeLookup }) => nodeLookup.get(loop)?.internals.positionAbsolute ?? ORIGIN);
  return <EdgeRoute {...props} loop={loop} origin={origin} />;
}

/** The usual curve; around the nodes it would run over. */
function EdgeRoute({
  loop = '',
  origin = ORIGIN,
  drawLine,
  ...ends
}: RouteProps & { loop?: string; origin?: Point }) {
  const route = useContext(EdgeRouting)?.(
    loop,
    origin,
    { x: ends.sourceX, y: ends.sourceY },
    { x: ends.targetX, y: ends.targetY },
  );
  if (route != null) return drawLine(route);
  const [path, x, y] = getBezierPath(ends);
  return drawLine({ path, middle: { x, y } });
}

const ORIGIN: Point = { x: 0, y: 0 };

/** Vertical offset of the buttons from the middle of the edge. */
function liftOf({ sourceX, sourceY, targetX, targetY }: Pick<EdgeProps, End>): number {
  const isFinger = matchMedia(FINGER).matches;
  const height = Math.abs(targetY - sourceY);
  if (Math.hypot(targetX - sourceX, height) >= (isFinger ? SHORT.finger : SHORT.mouse)) return 0;
  return isFinger ? 30 + height / 2 : 26;
}

/** For the pointer only: keyboard users select the edge and press `/` or Delete. */
function EdgeTools({
  x,
  y,
  onInsert,
  onRemove,
}: {
  x: number;
  y: number;
  onInsert: () => void;
  onRemove: () => void;
}) {
  const { t } = useTranslation();
  return (
    <g className="flow-edge-tools nopan nodrag" transform={`translate(${x} ${y})`}>
      <rect x={-28} y={-14} width={56} height={28} rx={14} className="flow-edge-reach" />
      <EdgeTool
        at={-13}
        name="insert"
        title={t('editor.insertHere')}
        path="M-4 0H4M0 -4V4"
        onClick={onInsert}
      />
      <EdgeTool
        at={13}
        name="remove"
        title={t('editor.removeEdge')}
        path="M-3 -3L3 3M-3 3L3 -3"
        onClick={onRemove}
      />
    </g>
  );
}

interface EdgeToolProps {
  at: number;
  name: string;
  title: string;
  path: string;
  onClick: () => void;
}

function EdgeTool({ at, name, title, path, onClick }: EdgeToolProps) {
  const stopAndClick = (event: { stopPropagation(): void }) => {
    event.stopPropagation();
    onClick();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: see above
    <g transform={`translate(${at} 0)`} className="flow-edge-tool" onClick={stopAndClick} data-tool={name}>
      <title>{title}</title>
      <circle r={13} className="flow-edge-reach" />
      <circle r={10} />
      <path d={path} />
    </g>
  );
}
