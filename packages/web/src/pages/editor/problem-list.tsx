import { Group, List, Text, UnstyledButton } from '@mantine/core';
import { CircleCheck, OctagonAlert, TriangleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useEditor } from '../../canvas/store.ts';
import { useEditorPage, useKeeper } from './editor-context.ts';

/** What keeps the workflow from being saved or activated; each leads to the node it is about. */
export function ProblemList() {
  const { t } = useTranslation();
  const { openNode } = useEditorPage();
  const problems = useEditor((state) => state.problems);
  const errors = useKeeper((state) => state.structureErrors);
  if (problems.length + errors.length === 0) {
    return (
      <Group gap={6} p="sm">
        <CircleCheck size={14} aria-hidden />
        <Text size="sm">{t('editor.noProblemsText')}</Text>
      </Group>
    );
  }
  return (
    <List listStyleType="none" p="xs" size="sm" spacing={2} aria-label={t('editor.problems')}>
      {errors.map(({ pointer, code, message }) => (
        <List.Item
          key={`${pointer} ${code}`}
          icon={<OctagonAlert size={14} color="var(--flow-failed)" aria-hidden />}
        >
          <Text size="sm">
            {t('editor.cannotBeSaved')} {message}{' '}
            <Text span size="xs" c="dimmed" ff="monospace">
              {pointer}
            </Text>
          </Text>
        </List.Item>
      ))}
      {problems.map(({ pointer, code, message, node_id: nodeId }) => (
        <List.Item
          key={`${pointer} ${code} ${message}`}
          icon={<TriangleAlert size={14} color="var(--flow-problem)" aria-hidden />}
        >
          {nodeId === null ? (
            <Text size="sm">{message}</Text>
          ) : (
            <UnstyledButton className="editor-problem" onClick={() => openNode(nodeId)}>
              <Text size="sm">{message}</Text>
            </UnstyledButton>
          )}
        </List.Item>
      ))}
    </List>
  );
}
