import { Menu } from '@mantine/core';
import { isLoop, titleOf, withBodies } from '@millrace/editor-model/flow-value.ts';
import { positionOf } from '@millrace/editor-model/geometry.ts';
import { useEditor, useEditorState, useEditorStore } from '@millrace/editor-model/store.ts';
import type { FlowNode } from '@millrace/engine';
import { notifyWarning } from '@millrace/ui/components/notify.ts';
import {
  ArrowDown,
  ArrowLeft,
  ArrowRight,
  ArrowUp,
  ClipboardCopy,
  Copy,
  CornerDownRight,
  LogOut,
  type LucideIcon,
  PanelRight,
  Plus,
  Replace,
  Scissors,
  Search,
  Spline,
  Trash2,
} from 'lucide-react';
import { useContext } from 'react';
import { useTranslation } from 'react-i18next';
import { copySelection } from './clipboard.ts';
import { RunLines } from './run-lines.ts';

/** Pixels per move from the menu. */
const STEP = 40;
/** A closing menu restores the focus a moment later; anything opened after this delay keeps the focus. */
const FOCUS_BACK_MS = 50;
const DIRECTIONS = [
  { name: 'left', icon: ArrowLeft, x: -STEP, y: 0 },
  { name: 'right', icon: ArrowRight, x: STEP, y: 0 },
  { name: 'up', icon: ArrowUp, x: 0, y: -STEP },
  { name: 'down', icon: ArrowDown, x: 0, y: STEP },
] as const;

/** Of menus that can be higher than the room for them: their lines are scrolled then. */
export const FITTING_MENU = {
  middlewares: { flip: true, shift: true, size: { padding: 8 } },
  styles: { dropdown: { overflowY: 'auto' } },
} as const;

/** Runs an action that opens something, once the menu has closed. */
export function afterMenu(act: () => void): () => void {
  return () => setTimeout(act, FOCUS_BACK_MS);
}

/** A menu item with its keyboard shortcut. */
export function MenuLine({
  icon: Icon,
  label,
  keys,
  isRed = false,
  stays = false,
  onClick,
}: {
  icon: LucideIcon;
  label: string;
  keys?: string;
  isRed?: boolean;
  /** Keeps the menu open, so that the action can be repeated. */
  stays?: boolean;
  onClick: () => void;
}) {
  return (
    <Menu.Item
      leftSection={<Icon size={14} />}
      closeMenuOnClick={!stays}
      onClick={onClick}
      className={isRed ? 'flow-menu-red' : ''}
      rightSection={
        keys !== undefined && (
          <span className="flow-menu-keys" aria-hidden>
            {keys}
          </span>
        )
      }
    >
      {label}
    </Menu.Item>
  );
}

/** Copy, cut and duplicate the selection. */
export function CopyLines() {
  const { t } = useTranslation();
  const store = useEditorStore();
  const isReadOnly = useEditor((state) => state.isReadOnly);
  return (
    <>
      <MenuLine
        icon={ClipboardCopy}
        label={t('canvas.menu.copy')}
        keys="Ctrl+C"
        onClick={() => void copySelection(store, t)}
      />
      {!isReadOnly && (
        <>
          <MenuLine
            icon={Scissors}
            label={t('canvas.menu.cut')}
            keys="Ctrl+X"
            onClick={() => void copySelection(store, t, true)}
          />
          <MenuLine
            icon={Copy}
            label={t('editor.keys.duplicate')}
            keys="Ctrl+D"
            onClick={() => store.getState().duplicate(store.getState().selectedIds)}
          />
        </>
      )}
    </>
  );
}

/** All actions on a node, without dragging. */
export function NodeMenuItems({
  node,
  hasMoves = false,
  onOpen,
  onConnect,
  onAddAfter,
}: {
  node: FlowNode;
  /** Includes move actions, where nodes can't be dragged. */
  hasMoves?: boolean;
  onOpen: () => void;
  onConnect: () => void;
  onAddAfter: () => void;
}) {
  const { t } = useTranslation();
  const store = useEditorStore();
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const Runs = useContext(RunLines);
  const move = (x: number, y: number) => {
    const state = store.getState();
    const at = positionOf(node, state.placed);
    state.move({ [node.id]: { x: at.x + x, y: at.y + y } });
  };
  return (
    <>
      <MenuLine icon={PanelRight} label={t('editor.open')} keys="Enter" onClick={onOpen} />
      {!isReadOnly && (
        <>
          <MenuLine icon={Plus} label={t('editor.addAfter')} keys="/" onClick={afterMenu(onAddAfter)} />
          <MenuLine icon={Spline} label={t('editor.connectTo')} onClick={afterMenu(onConnect)} />
          {Runs !== null && <Runs nodeId={node.id} />}
        </>
      )}
      <Menu.Divider />
      <CopyLines />
      {!isReadOnly && (
        <>
          <Menu.Divider />
          <TriggerLines node={node} />
          <LoopLines node={node} />
          {hasMoves &&
            DIRECTIONS.map(({ name, icon, x, y }) => (
              <MenuLine
                key={name}
                icon={icon}
                label={t(`editor.moveTo.${name}`)}
                stays
                onClick={() => move(x, y)}
              />
            ))}
          <MenuLine
            icon={Trash2}
            label={t('common.delete')}
            keys="Del"
            isRed
            onClick={() => store.getState().remove([node.id])}
          />
        </>
      )}
    </>
  );
}

/** Puts another trigger in the place of this one; those of services are found in the palette. */
export function TriggerLines({ node }: { node: FlowNode }) {
  const { t } = useTranslation();
  const store = useEditorStore();
  const nodeTypes = useEditor((state) => state.nodeTypes);
  if (nodeTypes.get(node.type)?.kind !== 'trigger') return null;
  const others = [...nodeTypes.values()].filter(
    ({ group, type }) => group === 'trigger' && type !== node.type,
  );
  return (
    <>
      {others.map(({ type, title }) => (
        <MenuLine
          key={type}
          icon={Replace}
          label={t('editor.startInstead', { title })}
          onClick={() => store.getState().replaceTrigger(node.id, type)}
        />
      ))}
      <MenuLine
        icon={Search}
        label={t('editor.startWithService')}
        onClick={afterMenu(() => store.getState().askForTrigger(node.id))}
      />
    </>
  );
}

/** Moves the node into a loop, or out of its current one. */
function LoopLines({ node }: { node: FlowNode }) {
  const { t } = useTranslation();
  const store = useEditorStore();
  const { nodes, nodeTypes } = useEditorState('nodes', 'nodeTypes');
  const inside = withBodies(nodes, [node.id]);
  const isTrigger = nodeTypes.get(node.type)?.kind === 'trigger';
  const loops = nodes.filter(
    (each) => !isTrigger && isLoop(each) && !inside.has(each.id) && each.id !== node.parentId,
  );
  const moveInto = (parentId: string | null) => {
    const count = store.getState().moveInto([node.id], parentId);
    if (count > 0) notifyWarning(t('editor.edgesRemoved', { count }));
  };
  return (
    <>
      {loops.map((loop) => (
        <MenuLine
          key={loop.id}
          icon={CornerDownRight}
          label={t('editor.moveInto', { title: titleOf(loop, nodeTypes) })}
          onClick={() => moveInto(loop.id)}
        />
      ))}
      {node.parentId != null && (
        <MenuLine icon={LogOut} label={t('editor.moveOut')} onClick={() => moveInto(null)} />
      )}
    </>
  );
}
