import { Tooltip } from '@mantine/core';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { Handle, type NodeProps, NodeResizer, Position, useStoreApi } from '@xyflow/react';
import { Pin, TriangleAlert } from 'lucide-react';
import { createContext, memo, useCallback, useContext, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { toCanvasId } from '../model/canvas-id.ts';
import { handleTop, type LoopNode, type StepData, type StepNode } from '../model/display.ts';
import type { Point, Size } from '../model/editor-state.ts';
import { FRAME } from '../model/geometry.ts';
import { useEditor, useEditorStore } from '../model/store.ts';
import { AboutNode } from './about-node-text.tsx';
import { DiffSign } from './diff-sign.tsx';
import { kindClass, NodeIcon } from './node-icon.tsx';
import { RunMark } from './run-mark.tsx';

/** Loaded once a problem is pointed at: the texts of all problems are large. */
const ProblemLines = lazyPart(async () => (await import('./problem-lines.tsx')).ProblemLines);

/** Id of the loop, or key of the edge, that the dragged item would be dropped on. */
export const DropTarget = createContext<string | null>(null);

/** A node: icon, title, type, named handles, problems, and run status. */
export const StepNodeView = memo(function StepNodeView({
  id,
  data,
  selected,
  isConnectable,
}: NodeProps<StepNode>) {
  return (
    <div className={classes('flow-node', data, selected)}>
      <Handles id={id} data={data} isConnectable={isConnectable} isLoop={false} />
      <div className="flow-node-main">
        <NodeHead data={data} />
      </div>
      <Marks data={data} />
    </div>
  );
});

/** A loop: a frame around its body. */
export const LoopNodeView = memo(function LoopNodeView({
  id,
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
      <div className={`${classes('flow-loop', data, selected)} ${isTarget ? 'is-target' : ''}`}>
        <Handles id={id} data={data} isConnectable={isConnectable} isLoop />
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
  return (
    <>
      <span className={`flow-node-icon ${kindClass(type)}`}>
        <NodeIcon name={type?.icon} />
      </span>
      <span className="flow-node-text" title={wholeText(data)}>
        <span className="flow-node-title">{title}</span>
        <br />
        <span className="flow-node-type">
          <AboutNode {...data} />
        </span>
      </span>
    </>
  );
}

/** The full text of truncated labels: description, type and id. */
function wholeText({ node, type, title, about }: StepData): string {
  return [title, about, `${type?.title ?? node.type} · ${node.id}`]
    .filter((line) => line !== null)
    .join('\n');
}

function classes(base: string, { run, mark, problems }: StepData, selected: boolean): string {
  const names = [base];
  if (selected) names.push('is-selected');
  if (run !== undefined) names.push(`is-${run.status}`);
  if (mark !== undefined) names.push(`is-mark-${mark}`);
  if (problems.length > 0) names.push('has-problem');
  return names.join(' ');
}

function Handles({
  id,
  data: { handles, type },
  isConnectable,
  isLoop,
}: {
  id: string;
  data: StepData;
  isConnectable: boolean;
  isLoop: boolean;
}) {
  const update = useMeasureAgain();
  const key = handles.join('\n');
  const former = useRef(key);
  useEffect(() => {
    // React Flow measures the initial handles itself; updating hundreds of nodes one by one takes seconds.
    if (former.current === key) return;
    former.current = key;
    update(id);
  }, [id, key, update]);
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

function Marks({ data: { node, problems, run, mark } }: { data: StepData }) {
  const { t } = useTranslation();
  const isPinned = useEditor((state) => Object.hasOwn(state.pins, node.id));
  if (problems.length === 0 && run === undefined && mark === undefined && !isPinned) return null;
  return (
    <span className="flow-marks">
      {mark !== undefined && <DiffSign mark={mark} />}
      {problems.length > 0 && (
        <Tooltip
          label={<ProblemLines problems={problems} />}
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

/**
 * Makes React Flow measure a node's handles again. Its own hook for this puts the id into a selector unescaped, and ids
 * may be any string: a quotation mark crashed the whole page.
 */
function useMeasureAgain(): (id: string) => void {
  const store = useStoreApi();
  return useCallback(
    (id) => {
      const { domNode, updateNodeInternals } = store.getState();
      const selector = `.react-flow__node[data-id="${CSS.escape(id)}"]`;
      const nodeElement = domNode?.querySelector<HTMLDivElement>(selector);
      if (nodeElement == null) return;
      const update = { id, nodeElement, force: true };
      requestAnimationFrame(() => updateNodeInternals(new Map([[id, update]]), { triggerFitView: false }));
    },
    [store],
  );
}
