import { Tooltip } from '@mantine/core';
import { toCanvasId } from '@millrace/editor-model/canvas-id.ts';
import { handleTop, type LoopNode, type StepData, type StepNode } from '@millrace/editor-model/display.ts';
import type { Point, Size } from '@millrace/editor-model/editor-state.ts';
import { FRAME } from '@millrace/editor-model/geometry.ts';
import { frameClasses, kindClass } from '@millrace/editor-model/node-classes.ts';
import { useEditor, useEditorStore } from '@millrace/editor-model/store.ts';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { Handle, type NodeProps, NodeResizer, Position } from '@xyflow/react';
import { Pin, TriangleAlert } from 'lucide-react';
import { createContext, memo, useContext } from 'react';
import { useTranslation } from 'react-i18next';
import { AboutNode } from './about-node-text.tsx';
import { DiffSign } from './diff-sign.tsx';
import { NodeIcon } from './node-icon.tsx';
import { RunMark } from './run-mark.tsx';

/** Loaded once a problem is pointed at: the texts of all problems are large. */
const ProblemLines = lazyPart(async () => (await import('./problem-lines.tsx')).ProblemLines);

/** Id of the loop, or key of the edge, that the dragged item would be dropped on. */
export const DropTarget = createContext<string | null>(null);

/**
 * How far the canvas is zoomed out. What can't be read or hit then isn't rendered: each of a node's handles
 * subscribes to every step of a pan, and hundreds of them took most of a frame. In the overview of a large flow, all nodes but loops and
 * notes are drawn together (`FarView`): elements that only take clicks and the focus, and paint nothing, cost next to nothing per frame.
 */
export type Distance = 'near' | 'far' | 'tiny' | 'overview';
export const ViewDistance = createContext<Distance>('near');

/** A node: icon, title, type, named handles, problems, and run status. */
export const StepNodeView = memo(function StepNodeView({
  data,
  selected,
  isConnectable,
}: NodeProps<StepNode>) {
  if (useContext(ViewDistance) === 'overview') return <Marks data={data} />;
  return (
    <div className={frameClasses('flow-node', data, selected)}>
      <Handles data={data} isConnectable={isConnectable} isLoop={false} />
      <div className="flow-node-main">
        <NodeHead data={data} />
      </div>
      <Marks data={data} />
    </div>
  );
});

/** A loop: a frame around its body. */
export const LoopNodeView = memo(function LoopNodeView({
  data,
  selected,
  isConnectable,
}: NodeProps<LoopNode>) {
  const { t } = useTranslation();
  const store = useEditorStore();
  const isTarget = useContext(DropTarget) === data.node.id;
  const resize = (size: Size & Point) => store.getState().resize(data.node.id, size, size);
  return (
    <>
      <NodeResizer
        isVisible={selected && isConnectable}
        minWidth={FRAME.minWidth}
        minHeight={FRAME.minHeight}
        onResizeEnd={(_event, size) => resize(size)}
        lineClassName="flow-resize-line"
        handleClassName="flow-resize-handle"
      />
      <div className={`${frameClasses('flow-loop', data, selected)} ${isTarget ? 'is-target' : ''}`}>
        <Handles data={data} isConnectable={isConnectable} isLoop />
        <div className="flow-loop-head">
          <NodeHead data={data} />
        </div>
        {isTarget && <span className="flow-loop-hint">{t('editor.dropInto')}</span>}
        <Marks data={data} />
      </div>
    </>
  );
});

function NodeHead({ data }: { data: StepData }) {
  const { type, title } = data;
  const distance = useContext(ViewDistance);
  return (
    <>
      <span className={`flow-node-icon ${kindClass(type)}`}>
        {distance === 'near' && <NodeIcon name={type?.icon} />}
      </span>
      {/* Far away, text becomes a bar: clipping hundreds of unreadable texts takes most of a frame. */}
      {distance === 'tiny' || distance === 'overview' ? (
        <span className="flow-node-bar" />
      ) : (
        <span className="flow-node-text" title={wholeText(data)}>
          <span className="flow-node-title">{title}</span>
          <br />
          <span className="flow-node-type">
            {distance === 'near' && <AboutNode {...data} about={data.about?.brief} />}
          </span>
        </span>
      )}
    </>
  );
}

/** The full text of truncated labels: description, type and id. */
function wholeText({ node, type, title, about }: StepData): string {
  return [title, about?.whole ?? null, `${type?.title ?? node.type} · ${node.id}`]
    .filter((line) => line !== null)
    .join('\n');
}

function Handles({
  data: { handles, type },
  isConnectable,
  isLoop,
}: {
  data: StepData;
  isConnectable: boolean;
  isLoop: boolean;
}) {
  if (useContext(ViewDistance) !== 'near') return null;
  return (
    <>
      {type?.kind !== 'trigger' && (
        <Handle
          type="target"
          position={Position.Left}
          isConnectable={isConnectable}
          className="flow-handle"
          style={{ top: isLoop ? 22 : 26 }}
        />
      )}
      {handles.map((handle, index) => {
        const top = handleTop(index, handles.length, isLoop);
        return (
          <span key={handle}>
            {handles.length > 1 && (
              <span className="flow-handle-name" style={{ top: top - 9 }} title={handle}>
                {handle}
              </span>
            )}
            <Handle
              type="source"
              id={toCanvasId(handle)}
              position={Position.Right}
              isConnectable={isConnectable}
              className={`flow-handle ${handle === 'error' ? 'is-error' : ''}`}
              style={{ top }}
            />
          </span>
        );
      })}
    </>
  );
}

function Marks({ data: { node, type, problems, run, mark } }: { data: StepData }) {
  const { t } = useTranslation();
  const isPinned = useEditor((state) => Object.hasOwn(state.pins, node.id));
  if (problems.length === 0 && run === undefined && mark === undefined && !isPinned) return null;
  return (
    <span className="flow-marks">
      {mark !== undefined && <DiffSign mark={mark} />}
      {problems.length > 0 && (
        <Tooltip
          label={<ProblemLines problems={problems} type={type} />}
          multiline
          maw={320}
          style={{ whiteSpace: 'pre-line' }}
        >
          <span className="flow-problem">
            <TriangleAlert size={14} aria-hidden />
            <span className="flow-visually-hidden">
              {t('editor.problemCount', { count: problems.length })}
            </span>
          </span>
        </Tooltip>
      )}
      {isPinned && <PinMark />}
      {run !== undefined && <RunMark run={run} />}
    </span>
  );
}

/** Marks a node with a pinned output, with a button to unpin it. */
function PinMark() {
  const { t } = useTranslation();
  return (
    <Tooltip label={t('canvas.pinMark')} multiline maw={280}>
      <span style={{ display: 'inline-flex', color: 'var(--mantine-primary-color-light-color)' }}>
        <Pin size={14} aria-hidden />
        <span className="flow-visually-hidden">{t('canvas.pinned')}</span>
      </span>
    </Tooltip>
  );
}
