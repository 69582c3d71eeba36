import { ActionIcon, Group, Menu, Text } from '@mantine/core';
import type { FlowNode } from '@millrace/engine';
import { Ellipsis, Plus, Spline, X } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { titleOf } from '../model/flow-value.ts';
import { useEditor, useEditorState, useEditorStore } from '../model/store.ts';
import { NodeMenuItems } from './node-menu-items.tsx';

/** An edge in the list: where it leads, a node onto it, another end for it, away with it. */
export function ListEdge({
  edgeKey,
  handle,
  target,
  onInsert,
  onLeadElsewhere,
}: {
  edgeKey: string;
  handle: string;
  target: string;
  onInsert: () => void;
  onLeadElsewhere: () => void;
}) {
  const { t } = useTranslation();
  const { remove, isReadOnly } = useEditorState('remove', 'isReadOnly');
  const actions = [
    { icon: Plus, label: t('editor.insertBefore', { title: target }), act: onInsert },
    { icon: Spline, label: t('canvas.leadElsewhereFrom', { title: target }), act: onLeadElsewhere },
    { icon: X, label: t('editor.removeEdgeTo', { title: target }), act: () => remove([edgeKey]) },
  ];
  return (
    <Group gap={2} wrap="nowrap" className="flow-list-edge">
      <Text size="xs">
        {handle !== 'out' && <span className="flow-list-handle">{handle}</span>}→ {target}
      </Text>
      {!isReadOnly &&
        actions.map(({ icon: Icon, label, act }) => (
          <ActionIcon key={label} size="xs" aria-label={label} title={label} onClick={act}>
            <Icon size={12} />
          </ActionIcon>
        ))}
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
  node: FlowNode;
  onOpen: () => void;
  onConnect: () => void;
  onAddAfter: () => void;
}) {
  const { t } = useTranslation();
  const store = useEditorStore();
  const title = useEditor((state) => titleOf(node, state.nodeTypes));
  return (
    <Menu position="bottom-end" withinPortal shadow="md" onOpen={() => store.getState().select([node.id])}>
      <Menu.Target>
        <ActionIcon size="sm" aria-label={t('editor.actionsOf', { title })}>
          <Ellipsis size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <NodeMenuItems node={node} hasMoves onOpen={onOpen} onConnect={onConnect} onAddAfter={onAddAfter} />
      </Menu.Dropdown>
    </Menu>
  );
}
