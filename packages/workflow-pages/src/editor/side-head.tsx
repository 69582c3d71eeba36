import { ActionIcon, Group, Text } from '@mantine/core';
import { NodeIcon } from '@millrace/editor/canvas/node-icon.tsx';
import { useEditor } from '@millrace/editor-model/store.ts';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { Maximize2, Minimize2, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** The side panel's title, actions and close button. */
export function SideHead({
  nodeId,
  isWide = false,
  onWiden,
  onClose,
  children,
}: {
  nodeId: string;
  isWide?: boolean;
  /** Absent: it can't be widened. */
  onWiden?: () => void;
  onClose: () => void;
  children?: ReactNode;
}) {
  const { t } = useTranslation();
  return (
    <Group className="editor-side-head" justify="space-between" gap="xs" wrap="nowrap">
      <TypeOfNode nodeId={nodeId} />
      <Group gap={2} wrap="nowrap">
        {children}
        {onWiden !== undefined && (
          <IconButton
            icon={isWide ? Minimize2 : Maximize2}
            label={t('editor.keys.widen')}
            hint={`${t('editor.keys.widen')} (F2)`}
            aria-pressed={isWide}
            size="sm"
            visibleFrom="sm"
            onClick={onWiden}
          />
        )}
        <ActionIcon size="sm" aria-label={t('workplace.closePanel')} onClick={onClose}>
          <X size={16} />
        </ActionIcon>
      </Group>
    </Group>
  );
}

function TypeOfNode({ nodeId }: { nodeId: string }) {
  const name = useEditor((state) => state.nodes.find(({ id }) => id === nodeId)?.type ?? '');
  const type = useEditor((state) => state.nodeTypes.get(name));
  return (
    <Group gap={6} wrap="nowrap" miw={0} c="dimmed">
      <NodeIcon name={type?.icon} size={14} />
      <Text size="xs" truncate title={name}>
        {type?.title ?? name}
      </Text>
    </Group>
  );
}
