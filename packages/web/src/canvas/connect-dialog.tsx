import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { findConnectionFault } from './connection-rules.ts';
import { handlesOf, titleOf } from './flow-value.ts';
import { useEditor, useEditorStore } from './store.ts';

/** Joins a node to another by choosing it: what dragging a connection is on the picture. */
export function ConnectDialog({
  sourceId,
  onClose,
}: {
  readonly sourceId: string;
  readonly onClose: () => void;
}) {
  const { t } = useTranslation();
  const store = useEditorStore();
  const nodes = useEditor((state) => state.nodes);
  const nodeTypes = useEditor((state) => state.nodeTypes);
  const told = useEditor((state) => state.handles);
  const source = nodes.find(({ id }) => id === sourceId);
  const handles = source === undefined ? [] : handlesOf(source, told, nodeTypes);
  const [handle, setHandle] = useState<string | null>(handles[0] ?? null);
  const [target, setTarget] = useState<string | null>(null);
  if (source === undefined) return null;
  const faultOf = (id: string) =>
    findConnectionFault(store.getState(), { source: sourceId, target: id, sourceHandle: handle });
  const fault = target === null ? null : faultOf(target);
  const connect = () => {
    if (target === null || fault !== null || handle === null) return;
    store.getState().connect({ source: sourceId, target, sourceHandle: handle });
    onClose();
  };
  const title = titleOf(source, nodeTypes);
  return (
    <Modal
      closeButtonProps={{ 'aria-label': t('common.close') }}
      opened
      onClose={onClose}
      title={t('editor.connectFrom', { title })}
      size="sm"
    >
      <Stack gap="sm">
        {handles.length === 0 && <Text size="sm">{t('editor.noHandles')}</Text>}
        {handles.length > 1 && (
          <Select
            label={t('editor.handle')}
            data={[...handles]}
            value={handle}
            onChange={setHandle}
            allowDeselect={false}
          />
        )}
        <Select
          label={t('editor.connectTarget')}
          placeholder={t('editor.chooseNode')}
          searchable
          data-autofocus
          data={nodes
            .filter(({ id }) => id !== sourceId)
            // What can be joined comes first; of the rest one is told why not.
            .toSorted((a, b) => Number(faultOf(a.id) !== null) - Number(faultOf(b.id) !== null))
            .map((node) => ({
              value: node.id,
              label: `${titleOf(node, nodeTypes)} (${node.id})`,
            }))}
          value={target}
          onChange={setTarget}
          error={fault === null ? undefined : t(`editor.connect.${fault}`)}
        />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button onClick={connect} disabled={target === null || fault !== null || handle === null}>
            {t('editor.connectNow')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
