import { BaseEdge, type EdgeProps, getBezierPath } from '@xyflow/react';
import { createContext, memo, useContext, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { fromCanvasId } from './canvas-id.ts';
import type { CanvasEdge } from './display.ts';
import { DropTarget } from './flow-node.tsx';

/** What can be done with an edge; null where the flow is only shown. */
export const EdgeActions = createContext<{
  readonly insert: (edgeKey: string) => void;
  readonly remove: (edgeKey: string) => void;
} | null>(null);

/** Of a shorter edge the buttons stand above it, where they leave its ends free to be pulled. */
const SHORT = 84;

/** An edge; while it is pointed at or selected, with buttons to put a node on it and to remove it. */
export const FlowEdgeView = memo(function FlowEdgeView(props: EdgeProps<CanvasEdge>) {
  const { id, data, selected = false, ...ends } = props;
  const actions = useContext(EdgeActions);
  // The buttons of hundreds of edges would be thousands of things to draw.
  const [isPointed, setIsPointed] = useState(false);
  const key = fromCanvasId(id);
  const isTarget = useContext(DropTarget) === key;
  const [path, x, y] = getBezierPath({
    sourceX: ends.sourceX,
    sourceY: ends.sourceY,
    targetX: ends.targetX,
    targetY: ends.targetY,
    sourcePosition: ends.sourcePosition,
    targetPosition: ends.targetPosition,
  });
  const state = data?.isTaken === true ? 'is-taken' : data?.isDead === true ? 'is-dead' : '';
  const isShort = Math.hypot(ends.targetX - ends.sourceX, ends.targetY - ends.sourceY) < SHORT;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: see below
    <g
      className={`flow-edge ${state} ${selected ? 'is-selected' : ''} ${isTarget ? 'is-target' : ''}`}
      onMouseEnter={() => setIsPointed(true)}
      onMouseLeave={() => setIsPointed(false)}
    >
      <BaseEdge id={id} path={path} interactionWidth={18} />
      {actions !== null && (isPointed || selected) && (
        <EdgeTools
          x={x}
          y={isShort ? y - 26 : y}
          onInsert={() => actions.insert(key)}
          onRemove={() => actions.remove(key)}
        />
      )}
    </g>
  );
});
/** For the pointer only: with the keyboard, an edge is selected and then `/` and Delete do the same. */
function EdgeTools({
  x,
  y,
  onInsert,
  onRemove,
}: {
  readonly x: number;
  readonly y: number;
  readonly onInsert: () => void;
  readonly onRemove: () => void;
}) {
  const { t } = useTranslation();
  return (
    <g className="flow-edge-tools nopan nodrag" transform={`translate(${x} ${y})`}>
      <rect x={-26} y={-14} width={52} height={28} rx={14} className="flow-edge-reach" />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: see above */}
      <g
        transform="translate(-12 0)"
        className="flow-edge-tool"
        onClick={stopAnd(onInsert)}
        data-tool="insert"
      >
        <title>{t('editor.insertHere')}</title>
        <circle r={10} />
        <path d="M-4 0H4M0 -4V4" />
      </g>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: see above */}
      <g
        transform="translate(12 0)"
        className="flow-edge-tool"
        onClick={stopAnd(onRemove)}
        data-tool="remove"
      >
        <title>{t('editor.removeEdge')}</title>
        <circle r={10} />
        <path d="M-3 -3L3 3M-3 3L3 -3" />
      </g>
    </g>
  );
}

function stopAnd(act: () => void) {
  return (event: { stopPropagation(): void }) => {
    event.stopPropagation();
    act();
  };
}
