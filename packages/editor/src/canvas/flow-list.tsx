import '@millrace/ui/i18n/parts/canvas.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import { ActionIcon, Anchor, Badge, Box, Group, Menu, ScrollArea, Table, Text } from '@mantine/core';
import { aboutNode } from '@millrace/editor-model/about-node.ts';
import type { DiffMark } from '@millrace/editor-model/display.ts';
import type { KnownType } from '@millrace/editor-model/editor-state.ts';
import { edgeKeyOf, titleOf } from '@millrace/editor-model/flow-value.ts';
import { buildOrder } from '@millrace/editor-model/list-order.ts';
import { kindClass } from '@millrace/editor-model/node-classes.ts';
import { problemText } from '@millrace/editor-model/problem-text.ts';
import { useEditor, useEditorState, useEditorStore } from '@millrace/editor-model/store.ts';
import { type FlowNode, own } from '@millrace/engine';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Ellipsis, Plus, Spline, X } from 'lucide-react';
import { memo, type ReactNode, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { AboutNode } from './about-node-text.tsx';
import type { PaletteRequest } from './canvas-actions.ts';
import type { Joining } from './connect-dialog.tsx';
import { DiffSign } from './diff-sign.tsx';
import { NodeIcon } from './node-icon.tsx';
import { FITTING_MENU, NodeMenuItems } from './node-menu-items.tsx';
import { RunMark } from './run-mark.tsx';

/** The flow as a list: every node with its connections and problems, and every action of the canvas. */
export function FlowList({
  onOpenNode,
  onAdd,
  onConnect,
  marks,
  toolbar,
  empty,
}: {
  onOpenNode?: (nodeId: string | null) => void;
  onAdd: (request: PaletteRequest) => void;
  onConnect: (joining: Joining) => void;
  marks: { readonly [nodeId: string]: DiffMark };
  toolbar: ReactNode;
  /** The empty state. */
  empty: ReactNode;
}) {
  const { t } = useTranslation();
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const rows = useRows();
  return (
    <Box className="flow-list">
      <Group p="xs">{toolbar}</Group>
      <ScrollArea flex={1} mih={0} type="auto">
        {rows.length === 0 ? (
          empty
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
              {rows.map((row) => (
                <ListRow
                  key={row.node.id}
                  row={row}
                  mark={own(marks, row.node.id)}
                  onAdd={onAdd}
                  onConnect={onConnect}
                  {...(onOpenNode === undefined ? {} : { onOpenNode })}
                />
              ))}
            </Table.Tbody>
          </Table>
        )}
      </ScrollArea>
    </Box>
  );
}

interface RowProps {
  row: Row;
  mark: DiffMark | undefined;
  onOpenNode?: (nodeId: string | null) => void;
  onAdd: (request: PaletteRequest) => void;
  onConnect: (joining: Joining) => void;
}

const ListRow = memo(function ListRow({ row, mark, onOpenNode, onAdd, onConnect }: RowProps) {
  const { t } = useTranslation();
  const store = useEditorStore();
  const { node, type, title, depth, outgoing, problems } = row;
  const { id } = node;
  const run = useEditor(({ runs }) => own(runs, id));
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const isSelected = useEditor(({ selectedIds }) => selectedIds.includes(id));
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
          <span className={`flow-node-icon ${kindClass(type)}`}>
            <NodeIcon name={type?.icon} size={14} />
          </span>
          <Box miw={0}>
            <Anchor component="button" type="button" size="sm" onClick={open} lineClamp={2} ta="start">
              {title}
            </Anchor>
            <Hint truncate>
              <AboutNode node={node} type={type} title={title} about={aboutNode(node, t)?.whole} />
              {depth > 0 && ` · ${t('editor.list.inside')}`}
            </Hint>
            <Group gap={6}>
              {mark !== undefined && <DiffSign mark={mark} />}
              {run !== undefined && <RunMark run={run} />}
              {problems !== '' && (
                <Badge color="orange" title={problems}>
                  {t('editor.problemCount', { count: problems.split('\n').length })}
                </Badge>
              )}
            </Group>
          </Box>
        </Group>
      </Table.Td>
      <Table.Td>
        <Group gap={4}>
          {outgoing.map(({ key, handle, target }) => (
            <ListEdge
              key={key}
              edgeKey={key}
              handle={handle}
              target={target}
              onInsert={() => onAdd({ place: { onEdge: key } })}
              onLeadElsewhere={() => onConnect({ edgeKey: key })}
            />
          ))}
        </Group>
      </Table.Td>
      {!isReadOnly && (
        <Table.Td ta="right">
          <ListActions
            node={node}
            onOpen={open}
            onConnect={() => onConnect({ sourceId: id })}
            onAddAfter={() => onAdd({ place: { after: id } })}
          />
        </Table.Td>
      )}
    </Table.Tr>
  );
}, isSameRow);

/** Row data that depends on other nodes. */
interface Row {
  readonly node: FlowNode;
  readonly type: KnownType | undefined;
  readonly title: string;
  readonly depth: number;
  readonly outgoing: readonly { readonly key: string; readonly handle: string; readonly target: string }[];
  /** One problem per line. */
  readonly problems: string;
}

function useRows(): readonly Row[] {
  const { nodes, edges, nodeTypes, problems } = useEditorState('nodes', 'edges', 'nodeTypes', 'problems');
  const { i18n } = useTranslation();
  return useMemo(() => {
    const titles = new Map(nodes.map((node) => [node.id, titleOf(node, nodeTypes)]));
    const bySource = Map.groupBy(
      edges.map((edge, index) => ({ edge, key: edgeKeyOf(edge, index) })),
      ({ edge }) => edge.source,
    );
    const byNode = Map.groupBy(problems, ({ node_id }) => node_id);
    return buildOrder(nodes, edges).map(
      ({ node, depth }): Row => ({
        node,
        type: nodeTypes.get(node.type),
        title: titles.get(node.id) ?? node.id,
        depth,
        outgoing: (bySource.get(node.id) ?? []).map(({ edge, key }) => ({
          key,
          handle: edge.sourceHandle ?? 'out',
          target: titles.get(edge.target) ?? edge.target,
        })),
        problems: (byNode.get(node.id) ?? [])
          .map((problem) => problemText(problem, nodeTypes.get(node.type)))
          .join('\n'),
      }),
    );
  }, [nodes, edges, nodeTypes, problems, i18n.language]);
}

/** Only rows whose content changed re-render: there may be hundreds. */
function isSameRow({ row: a, ...before }: RowProps, { row: b, ...after }: RowProps): boolean {
  const isSame =
    before.mark === after.mark &&
    before.onOpenNode === after.onOpenNode &&
    before.onAdd === after.onAdd &&
    before.onConnect === after.onConnect;
  return (
    isSame &&
    a.node === b.node &&
    a.type === b.type &&
    a.title === b.title &&
    a.depth === b.depth &&
    a.problems === b.problems &&
    a.outgoing.length === b.outgoing.length &&
    a.outgoing.every(
      ({ key, handle, target }, at) =>
        key === b.outgoing[at]?.key && handle === b.outgoing[at].handle && target === b.outgoing[at].target,
    )
  );
}

/** An edge in the list: its target, and actions to insert a node, reconnect and remove. */
function ListEdge({
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

/** All actions on a node, without a pointer. */
function ListActions({
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
    <Menu
      {...FITTING_MENU}
      position="bottom-end"
      withinPortal
      shadow="md"
      onOpen={() => store.getState().select([node.id])}
    >
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
