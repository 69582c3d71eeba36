import { Table, Text, UnstyledButton } from '@mantine/core';
import { RunMark } from '@millrace/editor/canvas/run-mark.tsx';
import { own, titleOf } from '@millrace/editor/model/flow-value.ts';
import { buildOrder } from '@millrace/editor/model/list-order.ts';
import { useEditorState } from '@millrace/editor/model/store.ts';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useEditorPage } from '../editor-context.ts';

/** What became of each node, in the order in which they are read. */
export function RunTable() {
  const { t } = useTranslation();
  const { openNode } = useEditorPage();
  const { nodes, edges, runs, nodeTypes, selectedIds } = useEditorState(
    'nodes',
    'edges',
    'runs',
    'nodeTypes',
    'selectedIds',
  );
  const rows = useMemo(() => buildOrder(nodes, edges), [nodes, edges]);
  if (Object.keys(runs).length === 0) return null;
  return (
    <Table verticalSpacing={2} highlightOnHover aria-label={t('editor.trying.results')}>
      <Table.Tbody>
        {rows.flatMap(({ node, depth }) => {
          const run = own(runs, node.id);
          if (run === undefined) return [];
          return [
            <Table.Tr
              key={node.id}
              {...(selectedIds.includes(node.id) ? { bg: 'var(--mantine-primary-color-light)' } : {})}
            >
              <Table.Td pl={8 + depth * 16}>
                <UnstyledButton onClick={() => openNode(node.id)}>
                  <Text size="sm">{titleOf(node, nodeTypes)}</Text>
                </UnstyledButton>
              </Table.Td>
              <Table.Td>
                <RunMark run={run} />
              </Table.Td>
              <Table.Td>
                <Hint>
                  {(run.consumed_ai_tokens ?? 0) > 0
                    ? t('common.tokens', { count: run.consumed_ai_tokens ?? 0 })
                    : ''}
                  {(run.attempts ?? 1) > 1 ? ` ${t('common.attempts', { count: run.attempts ?? 1 })}` : ''}
                </Hint>
              </Table.Td>
            </Table.Tr>,
          ];
        })}
      </Table.Tbody>
    </Table>
  );
}
