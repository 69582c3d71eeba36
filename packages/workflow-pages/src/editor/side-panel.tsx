import { type HotkeyItem, useHotkeys } from '@mantine/hooks';
import { type EditorStore, useEditor, useEditorStore } from '@millrace/editor-model/store.ts';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { fillingSkeleton, lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { Copy, Trash2 } from 'lucide-react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { SideFrame } from './side-frame.tsx';
import { SideHead } from './side-head.tsx';
import { NodeRunMenu } from './trying/node-runs.ts';

const NodePanel = lazyPart(
  async () => (await import('@millrace/editor/node-panel/node-panel.tsx')).NodePanel,
  fillingSkeleton,
);

/** The node that the panel shows. */
interface OpenNode {
  readonly id: string;
  /** Just added: its first empty field takes the focus. */
  readonly isNew: boolean;
  /** Counts how often its help was asked for: each time it is shown again. */
  readonly helpAsked: number;
}

/** The help of the selected node, or else of the open one. */
function withHelp(open: OpenNode | null, store: EditorStore): OpenNode | null {
  const { nodes, selectedIds } = store.getState();
  const chosen = nodes.find(({ id }) => selectedIds.includes(id));
  const id = chosen?.id ?? open?.id;
  if (id === undefined) return null;
  return { id, isNew: false, helpAsked: (open?.id === id ? open.helpAsked : 0) + 1 };
}

/** Which node is open, how wide, and the keys for both where the panel `isShown`. */
export function useSidePanel(store: EditorStore, isShown: boolean) {
  const [node, setNode] = useState<OpenNode | null>(null);
  const [isWide, setIsWide] = useState(false);
  const open = useCallback(
    (id: string | null, { isNew = false } = {}) => setNode(id === null ? null : { id, isNew, helpAsked: 0 }),
    [],
  );
  const widen = useCallback(() => setIsWide((was) => !was), []);
  const hotkeys: HotkeyItem[] = [['F1', () => setNode((shown) => withHelp(shown, store))]];
  if (node !== null) hotkeys.push(['F2', widen]);
  useHotkeys(isShown ? hotkeys : [], [], true);
  return { node, isWide, open, widen };
}

/** The open node beside the canvas. */
export function SidePanel({
  panel: { node, isWide, open, widen },
  isNarrow,
}: {
  panel: ReturnType<typeof useSidePanel>;
  isNarrow: boolean;
}) {
  const isThere = useEditor(({ nodes }) => nodes.some(({ id }) => id === node?.id));
  // The palette, which is on the canvas, needs its room.
  const isReplacing = useEditor((state) => state.replacedTrigger !== null);
  const focusedBefore = useRef<Element | null>(null);
  useEffect(() => {
    if (node?.isNew !== true) return;
    // From the palette, the focus goes back to where it was (`useFocusReturn`); the panel may still be loading then.
    queueMicrotask(() => {
      focusedBefore.current = document.activeElement;
    });
  }, [node]);
  const close = () => open(null);
  return (
    <SideFrame isOpen={isThere && !(isNarrow && isReplacing)} isWide={isWide && !isReplacing} onClose={close}>
      {node !== null && (
        <>
          <SideHead nodeId={node.id} isWide={isWide} onWiden={widen} onClose={close}>
            <NodeActions nodeId={node.id} />
          </SideHead>
          <div className="editor-side-body">
            <NodePanel
              nodeId={node.id}
              takesFocus={node.isNew}
              focusedBefore={focusedBefore}
              helpAsked={node.helpAsked}
            />
          </div>
        </>
      )}
    </SideFrame>
  );
}

/** Actions on the open node. */
function NodeActions({ nodeId }: { nodeId: string }) {
  const { t } = useTranslation();
  const store = useEditorStore();
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const actions = [
    { icon: Copy, label: t('editor.keys.duplicate'), act: (id: string) => store.getState().duplicate([id]) },
    { icon: Trash2, label: t('common.delete'), act: (id: string) => store.getState().remove([id]) },
  ];
  if (isReadOnly) return null;
  const buttons = actions.map(({ icon: Icon, label, act }) => (
    <IconButton key={label} icon={Icon} label={label} size="sm" onClick={() => act(nodeId)} />
  ));
  return (
    <>
      <NodeRunMenu nodeId={nodeId} />
      {buttons}
    </>
  );
}
