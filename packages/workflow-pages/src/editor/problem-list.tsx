import '@millrace/ui/i18n/parts/workplace.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import { Group, List, Text, UnstyledButton } from '@mantine/core';
import { needsConnectors, useWholeTypes } from '@millrace/editor/canvas/use-connectors.ts';
import { titleOf } from '@millrace/editor-model/flow-value.ts';
import { problemText } from '@millrace/editor-model/problem-text.ts';
import { useEditor, useEditorState } from '@millrace/editor-model/store.ts';
import type { FlowEdge, FlowNode } from '@millrace/engine';
import { Hint } from '@millrace/ui/components/text.tsx';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { CircleCheck, OctagonAlert, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useDraftSync, useEditorPage } from './editor-context.ts';

/** Problems that prevent saving or activating; each links to its node. */
export function ProblemList() {
  const { t } = useTranslation();
  const { nodes, edges, problems, nodeTypes } = useEditorState('nodes', 'edges', 'problems', 'nodeTypes');
  const typeOf = (nodeId: string | null) => nodeTypes.get(nodes.find(({ id }) => id === nodeId)?.type ?? '');
  const errors = useDraftSync((state) => state.structureErrors);
  const affected = new Set(problems.map((problem) => problem.node_id));
  // Settings are called as in their forms, which come with the whole types.
  useWholeTypes({ ofConnectors: nodes.some((node) => affected.has(node.id) && needsConnectors(node)) });
  if (problems.length + errors.length === 0) {
    return (
      <Group gap={6} p="sm">
        <CircleCheck size={14} aria-hidden />
        <Text size="sm">{t('workplace.noProblemsText')}</Text>
      </Group>
    );
  }
  return (
    <List listStyleType="none" p="xs" size="sm" spacing={2} aria-label={t('workplace.problems')}>
      {errors.map((error) => (
        <List.Item
          key={`${error.pointer} ${error.code} ${error.message}`}
          icon={<OctagonAlert size={14} color="var(--flow-failed)" aria-hidden />}
        >
          <Problem nodeId={nodeAt(error.pointer, nodes, edges)}>
            {t('workplace.cannotBeSaved')} {translateMessage(error)}{' '}
            <Hint span ff="monospace">
              {error.pointer}
            </Hint>
          </Problem>
        </List.Item>
      ))}
      {problems.map((problem) => (
        <List.Item
          key={`${problem.pointer} ${problem.code} ${problem.message}`}
          icon={<TriangleAlert size={14} color="var(--flow-problem)" aria-hidden />}
        >
          <Problem nodeId={problem.node_id}>{problemText(problem, typeOf(problem.node_id))}</Problem>
        </List.Item>
      ))}
    </List>
  );
}

/** A problem after the name of its node, as a link; flow-level problems aren't links. */
function Problem({ nodeId, children }: { nodeId: string | null; children: ReactNode }) {
  const { openNode } = useEditorPage();
  const title = useEditor(({ nodes, nodeTypes }) => {
    const node = nodes.find(({ id }) => id === nodeId);
    return node === undefined ? null : titleOf(node, nodeTypes);
  });
  if (nodeId === null || title === null) return <Text size="sm">{children}</Text>;
  return (
    <UnstyledButton className="editor-problem" onClick={() => openNode(nodeId)}>
      <Text size="sm">
        <Text span fw={600}>
          {title}
        </Text>{' '}
        <Hint span ff="monospace">
          {nodeId}
        </Hint>
        {' · '}
        {children}
      </Text>
    </UnstyledButton>
  );
}

/** The node that a JSON Pointer into the flow belongs to; for an edge, its source. */
function nodeAt(pointer: string, nodes: readonly FlowNode[], edges: readonly FlowEdge[]): string | null {
  const [, list, index = ''] = /^\/flow_data\/(nodes|edges)\/(\d+)/.exec(pointer) ?? [];
  if (list === 'nodes') return nodes[Number(index)]?.id ?? null;
  return list === 'edges' ? (edges[Number(index)]?.source ?? null) : null;
}
