import '@millrace/ui/i18n/parts/workplace.ts';
import '@millrace/ui/i18n/parts/trying.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import '@millrace/ui/i18n/parts/executions.ts';
import '@millrace/ui/i18n/parts/forms.ts';
import {
  Anchor,
  Badge,
  Box,
  Button,
  Checkbox,
  Group,
  Loader,
  ScrollArea,
  Stack,
  Table,
  Text,
  UnstyledButton,
} from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { RunMark } from '@millrace/editor/canvas/run-mark.tsx';
import { titleOf } from '@millrace/editor-model/flow-value.ts';
import { buildOrder } from '@millrace/editor-model/list-order.ts';
import { useEditor, useEditorState } from '@millrace/editor-model/store.ts';
import { own } from '@millrace/engine';
import { EXECUTION_STATUS_STYLES } from '@millrace/ui/components/status-styles.ts';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { formatDuration } from '@millrace/ui/components/time.tsx';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { Link } from '@tanstack/react-router';
import { CircleStop, Play } from 'lucide-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useEditorPage } from '../editor-context.ts';
import { NodeResult } from './node-result.tsx';
import { RunInputChoice, RunTriggerChoice } from './run-input.tsx';
import { RunOneNode } from './run-one-node.tsx';

/** Runs the flow on the canvas: its input, and each node's result. */
export function RunPanel() {
  const { t } = useTranslation();
  const { org, trial, runForm, watch } = useEditorPage();
  const selected = useEditor(({ selectedIds, nodes }) => {
    const [only, ...others] = selectedIds;
    return others.length === 0 && nodes.some(({ id }) => id === only) ? (only ?? null) : null;
  });
  // Side by side the parts scroll separately; stacked they scroll together.
  const isNarrow = useMediaQuery('(max-width: 48em)') ?? false;
  const height = isNarrow ? 'auto' : '100%';
  return (
    <Group align="stretch" gap="md" h={height} wrap="wrap" p="sm" className="editor-run">
      <ScrollArea flex="1 1 280px" h={height} type="auto" offsetScrollbars="y">
        <Stack gap="xs">
          <Group gap="xs">
            <Button
              leftSection={<Play size={14} />}
              loading={trial.isStarting}
              disabled={runForm.input.kind === 'invalid' || trial.isBusy}
              onClick={() => void runForm.start()}
            >
              {t('workplace.trying.run')}
            </Button>
            {trial.isUnderWay && (
              <Button
                variant="default"
                color="red"
                leftSection={<CircleStop size={14} />}
                onClick={() => void trial.cancel()}
              >
                {t('trying.cancel')}
              </Button>
            )}
          </Group>
          <RunTriggerChoice />
          <RunInputChoice />
          <Checkbox
            size="xs"
            checked={runForm.isTest}
            onChange={({ currentTarget }) => runForm.setTest(currentTarget.checked)}
            label={t('trying.testRun')}
            description={t('workplace.testMode.what')}
          />
          {selected !== null && <RunOneNode nodeId={selected} />}
        </Stack>
      </ScrollArea>
      <ScrollArea flex="2 1 300px" h={height} type="auto" offsetScrollbars="y">
        <Stack gap="xs">
          {watch.isOn && (
            <Group gap="xs" role="status">
              <Loader size={12} type="dots" aria-hidden />
              <Muted>{t(watch.isReady ? 'trying.watching' : 'common.loading')}</Muted>
              <Button variant="subtle" size="compact-xs" onClick={watch.stop}>
                {t('trying.stopWatching')}
              </Button>
            </Group>
          )}
          {trial.executionId === null ? (
            !watch.isOn && <Muted>{t('forms.nothingRunYet')}</Muted>
          ) : (
            <Group gap="xs" aria-live="polite">
              <TrialBadge />
              <Anchor
                size="xs"
                renderRoot={(props) => (
                  <Link {...props} to={`/o/${org}/executions/${trial.executionId}` as '/'} />
                )}
              >
                {t('trying.execution', { id: trial.executionId })}
              </Anchor>
              <Button variant="subtle" size="compact-xs" onClick={trial.clear} disabled={trial.isBusy}>
                {t('trying.clear')}
              </Button>
            </Group>
          )}
          {trial.execution?.error !== undefined && (
            <Text size="sm" c="var(--mantine-color-error)" role="alert" style={{ overflowWrap: 'anywhere' }}>
              {trial.execution.error.code}: {translateMessage(trial.execution.error)}
            </Text>
          )}
          <RunTable />
        </Stack>
      </ScrollArea>
      {selected !== null && trial.executionId !== null && (
        <Box flex="2 1 300px" h={height} miw={0}>
          <NodeResult
            key={`${trial.executionId} ${selected}`}
            nodeId={selected}
            executionId={trial.executionId}
          />
        </Box>
      )}
    </Group>
  );
}

function TrialBadge() {
  const { t } = useTranslation();
  const { trial } = useEditorPage();
  const { execution } = trial;
  const status = execution?.status ?? 'queued';
  return (
    <Group gap={6}>
      <Badge color={EXECUTION_STATUS_STYLES[status].color}>{t(`executions.status.${status}`)}</Badge>
      {execution?.is_test_mode === true && <Badge color="grape">{t('workplace.testMode.label')}</Badge>}
      {execution?.duration_ms != null && <Hint>{formatDuration(execution.duration_ms)}</Hint>}
      {execution !== null && execution.consumed_ai_tokens > 0 && (
        <Hint>{t('common.tokens', { count: execution.consumed_ai_tokens })}</Hint>
      )}
    </Group>
  );
}

/** Each node's result, in reading order. */
function RunTable() {
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
    <Table verticalSpacing={2} highlightOnHover aria-label={t('trying.results')}>
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
