import { ActionIcon, Group, Menu, Text } from '@mantine/core';
import type { FlowNode } from '@millrace/engine';
import {
  ArrowDown,
  ArrowLeft,
  ArrowRight,
  ArrowUp,
  CornerDownRight,
  Ellipsis,
  LogOut,
  PanelRight,
  Plus,
  Spline,
  Trash2,
  X,
} from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { notifyWarning } from '../ui/notify.ts';
import { isLoop, titleOf, withBodies } from './flow-value.ts';
import { positionOf } from './geometry.ts';
import { useEditor, useEditorStore } from './store.ts';

/** Pixels that one move of the list is. */
const STEP = 40;
/** A menu that closes gives the focus back a moment later; what opens then can keep it. */
const FOCUS_BACK_MS = 50;
const DIRECTIONS = [
  { name: 'left', icon: ArrowLeft, x: -STEP, y: 0 },
  { name: 'right', icon: ArrowRight, x: STEP, y: 0 },
  { name: 'up', icon: ArrowUp, x: 0, y: -STEP },
  { name: 'down', icon: ArrowDown, x: 0, y: STEP },
] as const;

/** An edge in the list: where it leads, a node onto it, away with it. */
export function ListEdge({
  edgeKey,
  handle,
  target,
  onInsert,
}: {
  readonly edgeKey: string;
  readonly handle: string;
  readonly target: string;
  readonly onInsert: () => void;
}) {
  const { t } = useTranslation();
  const remove = useEditor((state) => state.remove);
  const isReadOnly = useEditor((state) => state.isReadOnly);
  return (
    <Group gap={2} wrap="nowrap" className="flow-list-edge">
      <Text size="xs">
        {handle === 'out' ? '' : `${handle} `}→ {target}
      </Text>
      {!isReadOnly && (
        <>
          <ActionIcon size="xs" aria-label={t('editor.insertBefore', { title: target })} onClick={onInsert}>
            <Plus size={12} />
          </ActionIcon>
          <ActionIcon
            size="xs"
            aria-label={t('editor.removeEdgeTo', { title: target })}
            onClick={() => remove([edgeKey])}
          >
            <X size={12} />
          </ActionIcon>
        </>
      )}
    </Group>
  );
}

/** Everything that can be done with a node, without a pointer. */
export function ListActions({
  node,
  onOpen,
  onConnect,
  onAddAfter,
}: {
  readonly node: FlowNode;
  readonly onOpen: () => void;
  readonly onConnect: () => void;
  readonly onAddAfter: () => void;
}) {
  const { t } = useTranslation();
  const store = useEditorStore();
  const nodes = useEditor((state) => state.nodes);
  const nodeTypes = useEditor((state) => state.nodeTypes);
  const title = titleOf(node, nodeTypes);
  const isTrigger = nodeTypes.get(node.type)?.kind === 'trigger';
  const inside = withBodies(nodes, [node.id]);
  const loops = isTrigger
    ? []
    : nodes.filter((each) => isLoop(each) && !inside.has(each.id) && each.id !== node.parentId);
  const move = (x: number, y: number) => {
    const state = store.getState();
    const at = positionOf(node, state.placed);
    state.move({ [node.id]: { x: at.x + x, y: at.y + y } });
  };
  const moveInto = (parentId: string | null) => {
    const count = store.getState().moveInto([node.id], parentId);
    if (count > 0) notifyWarning(t('editor.edgesRemoved', { count }));
  };
  return (
    <Menu position="bottom-end" withinPortal shadow="md">
      <Menu.Target>
        <ActionIcon size="sm" aria-label={t('editor.actionsOf', { title })}>
          <Ellipsis size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<PanelRight size={14} />} onClick={onOpen}>
          {t('editor.open')}
        </Menu.Item>
        <Menu.Item leftSection={<Plus size={14} />} onClick={() => setTimeout(onAddAfter, FOCUS_BACK_MS)}>
          {t('editor.addAfter')}
        </Menu.Item>
        <Menu.Item leftSection={<Spline size={14} />} onClick={onConnect}>
          {t('editor.connectTo')}
        </Menu.Item>
        <Menu.Divider />
        {loops.map((loop) => (
          <Menu.Item
            key={loop.id}
            leftSection={<CornerDownRight size={14} />}
            onClick={() => moveInto(loop.id)}
          >
            {t('editor.moveInto', { title: titleOf(loop, nodeTypes) })}
          </Menu.Item>
        ))}
        {node.parentId != null && (
          <Menu.Item leftSection={<LogOut size={14} />} onClick={() => moveInto(null)}>
            {t('editor.moveOut')}
          </Menu.Item>
        )}
        {DIRECTIONS.map(({ name, icon: Icon, x, y }) => (
          <Menu.Item
            key={name}
            closeMenuOnClick={false}
            leftSection={<Icon size={14} />}
            onClick={() => move(x, y)}
          >
            {t(`editor.moveTo.${name}`)}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item
          color="red"
          leftSection={<Trash2 size={14} />}
          onClick={() => store.getState().remove([node.id])}
        >
          {t('common.delete')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
