import '@millrace/ui/i18n/parts/canvas.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core';
import { findConnectionFault } from '@millrace/editor-model/connection-rules.ts';
import type { NewConnection } from '@millrace/editor-model/editor-state.ts';
import { edgeKeyOf, handlesOf, titleOf } from '@millrace/editor-model/flow-value.ts';
import { useEditorState, useEditorStore } from '@millrace/editor-model/store.ts';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';

/** What to connect: a node to another, or an edge to other ends. */
export type Joining = { readonly sourceId: string } | { readonly edgeKey: string };

/** Connects nodes by choosing from lists: the alternative to dragging. */
export function ConnectDialog({ joining, onClose }: { joining: Joining; onClose: () => void }) {
  const { t } = useTranslation();
  const store = useEditorStore();
  const {
    nodes,
    edges,
    nodeTypes,
    handles: knownHandles,
  } = useEditorState('nodes', 'edges', 'nodeTypes', 'handles');
  const edgeKey = 'edgeKey' in joining ? joining.edgeKey : null;
  const edge = edges.find((each, index) => edgeKeyOf(each, index) === edgeKey);
  const [sourceId, setSourceId] = useState('sourceId' in joining ? joining.sourceId : (edge?.source ?? ''));
  const source = nodes.find(({ id }) => id === sourceId);
  const handles = source === undefined ? [] : handlesOf(source, knownHandles, nodeTypes);
  const [wanted, setWanted] = useState<string | null>(
    edge === undefined ? null : (edge.sourceHandle ?? 'out'),
  );
  const handle = handles.find((each) => each === wanted) ?? handles[0] ?? null;
  const [target, setTarget] = useState<string | null>(edge?.target ?? null);
  if (source === undefined) return null;

  const connectionTo = (id: string): NewConnection => ({
    source: sourceId,
    target: id,
    sourceHandle: handle,
  });
  const faultOf = (id: string) => findConnectionFault(store.getState(), connectionTo(id), edgeKey);
  const fault = target === null ? null : faultOf(target);
  const connect = () => {
    if (target === null || fault !== null || handle === null) return;
    if (edgeKey === null) store.getState().connect(connectionTo(target));
    else store.getState().reconnect(edgeKey, connectionTo(target));
    onClose();
  };
  const nameOf = (id: string) => {
    const node = nodes.find((each) => each.id === id);
    return node === undefined ? id : `${titleOf(node, nodeTypes)} (${id})`;
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={
        edgeKey === null
          ? t('editor.connectFrom', { title: titleOf(source, nodeTypes) })
          : t('canvas.changeConnection')
      }
      size="sm"
    >
      <Stack gap="sm">
        {edgeKey !== null && (
          <Select
            label={t('canvas.comesFrom')}
            searchable
            allowDeselect={false}
            data={nodes.map(({ id }) => ({ value: id, label: nameOf(id) }))}
            value={sourceId}
            onChange={(id) => id !== null && setSourceId(id)}
          />
        )}
        {handles.length === 0 && <Text size="sm">{t('editor.noHandles')}</Text>}
        {handles.length > 1 && (
          <Select
            label={t('editor.handle')}
            data={[...handles]}
            value={handle}
            onChange={setWanted}
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
            // Valid targets first; the others show why they are invalid.
            .map(({ id }) => ({ id, isRefused: faultOf(id) !== null }))
            .toSorted((a, b) => Number(a.isRefused) - Number(b.isRefused))
            .map(({ id }) => ({ value: id, label: nameOf(id) }))}
          value={target}
          onChange={setTarget}
          error={fault === null ? undefined : t(`editor.connect.${fault}`)}
        />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button onClick={connect} disabled={target === null || fault !== null || handle === null}>
            {edgeKey === null ? t('editor.connectNow') : t('canvas.change')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
