import { Anchor, Badge, Box, Group, ScrollArea, Table, Text } from '@mantine/core';
import { type ReactNode, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { PaletteRequest } from './canvas-actions.ts';
import { ConnectDialog } from './connect-dialog.tsx';
import { DiffSign } from './diff-sign.tsx';
import type { DiffMark } from './display.ts';
import { ListActions, ListEdge } from './flow-list-actions.tsx';
import { edgeKeyOf, own, titleOf } from './flow-value.ts';
import { buildOrder } from './list-order.ts';
import { NodeIcon } from './node-icon.tsx';
import { RunMark } from './run-mark.tsx';
import { useEditor, useEditorStore } from './store.ts';

/** The flow as a list: every node with where it leads, what is wrong with it, and all that the picture can do. */
export function FlowList({
  onOpenNode,
  onAdd,
  marks,
  toolbar,
}: {
  readonly onOpenNode?: (nodeId: string | null) => void;
  readonly onAdd: (request: PaletteRequest) => void;
  readonly marks: { readonly [nodeId: string]: DiffMark };
  readonly toolbar: ReactNode;
}) {
  const { t } = useTranslation();
  const nodes = useEditor((state) => state.nodes);
  const edges = useEditor((state) => state.edges);
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const [connecting, setConnecting] = useState<string | null>(null);
  const rows = useMemo(() => buildOrder(nodes, edges), [nodes, edges]);
  return (
    <Box className="flow-list">
      <Group p="xs">{toolbar}</Group>
      <ScrollArea flex={1} mih={0} type="auto">
        {rows.length === 0 ? (
          <Text c="dimmed" size="sm" p="md">
            {t('editor.emptyHint')}
          </Text>
        ) : (
          <Table stickyHeader highlightOnHover verticalSpacing={4} aria-label={t('editor.listOfNodes')}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('editor.list.node')}</Table.Th>
                <Table.Th>{t('editor.list.leadsTo')}</Table.Th>
                {!isReadOnly && (
                  <Table.Th>
                    <span className="flow-visually-hidden">{t('common.actions')}</span>
                  </Table.Th>
                )}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map(({ node, depth }) => (
                <ListRow
                  key={node.id}
                  id={node.id}
                  depth={depth}
                  mark={own(marks, node.id)}
                  onAdd={onAdd}
                  onConnect={() => setConnecting(node.id)}
                  {...(onOpenNode === undefined ? {} : { onOpenNode })}
                />
              ))}
            </Table.Tbody>
          </Table>
        )}
      </ScrollArea>
      {connecting !== null && <ConnectDialog sourceId={connecting} onClose={() => setConnecting(null)} />}
    </Box>
  );
}

function ListRow({
  id,
  depth,
  mark,
  onOpenNode,
  onAdd,
  onConnect,
}: {
  readonly id: string;
  readonly depth: number;
  readonly mark: DiffMark | undefined;
  readonly onOpenNode?: (nodeId: string | null) => void;
  readonly onAdd: (request: PaletteRequest) => void;
  readonly onConnect: () => void;
}) {
  const { t } = useTranslation();
  const store = useEditorStore();
  const node = useEditor(({ nodes }) => nodes.find((each) => each.id === id));
  const nodeTypes = useEditor((state) => state.nodeTypes);
  const edges = useEditor((state) => state.edges);
  const nodes = useEditor((state) => state.nodes);
  const problems = useEditor((state) => state.problems).filter(({ node_id }) => node_id === id);
  const run = useEditor(({ runs }) => own(runs, id));
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const isSelected = useEditor(({ selectedIds }) => selectedIds.includes(id));
  if (node === undefined) return null;
  const type = nodeTypes.get(node.type);
  const outgoing = edges
    .map((edge, index) => ({ edge, key: edgeKeyOf(edge, index) }))
    .filter(({ edge }) => edge.source === id);
  const open = () => {
    store.getState().select([id]);
    onOpenNode?.(id);
  };
  return (
    <Table.Tr
      {...(isSelected ? { bg: 'var(--mantine-primary-color-light)' } : {})}
      aria-selected={isSelected}
    >
      <Table.Td style={{ paddingInlineStart: 10 + depth * 20 }}>
        <Group gap={8} wrap="nowrap">
          <span className={`flow-node-icon flow-kind-${type?.kind ?? 'unknown'}`}>
            <NodeIcon name={type?.icon} size={14} />
          </span>
          <Box miw={0}>
            <Anchor component="button" type="button" size="sm" onClick={open} lineClamp={2} ta="start">
              {titleOf(node, nodeTypes)}
            </Anchor>
            <Text size="xs" c="dimmed" truncate>
              {type === undefined || titleOf(node, nodeTypes) === type.title ? node.id : type.title}
              {depth > 0 && ` · ${t('editor.list.inside')}`}
            </Text>
            <Group gap={6}>
              {mark !== undefined && <DiffSign mark={mark} />}
              {run !== undefined && <RunMark run={run} />}
              {problems.length > 0 && (
                <Badge color="orange" title={problems.map(({ message }) => message).join('\n')}>
                  {t('editor.problemCount', { count: problems.length })}
                </Badge>
              )}
            </Group>
          </Box>
        </Group>
      </Table.Td>
      <Table.Td>
        <Group gap={4}>
          {outgoing.map(({ edge, key }) => (
            <ListEdge
              key={key}
              edgeKey={key}
              handle={edge.sourceHandle ?? 'out'}
              target={titleOf(
                nodes.find((each) => each.id === edge.target) ?? { id: edge.target, type: edge.target },
                nodeTypes,
              )}
              onInsert={() => onAdd({ place: { onEdge: key } })}
            />
          ))}
        </Group>
      </Table.Td>
      {!isReadOnly && (
        <Table.Td ta="right">
          <ListActions
            node={node}
            onOpen={open}
            onConnect={onConnect}
            onAddAfter={() => onAdd({ place: { after: id } })}
          />
        </Table.Td>
      )}
    </Table.Tr>
  );
}
