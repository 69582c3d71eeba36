import { Code, Group, ScrollArea, Stack, Tabs, Text } from '@mantine/core';
import { RunLine } from '@millrace/editor/node-panel/run-line.tsx';
import { titleOf } from '@millrace/editor-model/flow-value.ts';
import { useEditor, useEditorState } from '@millrace/editor-model/store.ts';
import { type JsonObject, type JsonValue, own } from '@millrace/engine';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { JsonText } from '@millrace/ui/components/code.tsx';
import { Muted } from '@millrace/ui/components/text.tsx';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useEditorPage } from '../editor-context.ts';

/** One node of the run: its input, its output, and its code's log. */
export function NodeResult({ nodeId, executionId }: { nodeId: string; executionId: number }) {
  const { t } = useTranslation();
  const { org } = useEditorPage();
  const node = useEditor(({ nodes }) => nodes.find(({ id }) => id === nodeId));
  const { edges, runs, nodeTypes } = useEditorState('edges', 'runs', 'nodeTypes');
  const run = own(runs, nodeId);
  const isOver = run !== undefined && run.status !== 'running' && run.status !== 'waiting';
  const detail = useQuery({
    ...endpointQuery('GET /orgs/:org/executions/:execution/nodes/:node', {
      params: { org, execution: executionId, node: nodeId },
    }),
    enabled: isOver && run.status !== 'skipped',
  });
  if (node === undefined || run === undefined) {
    return <Muted>{t('trying.notRun')}</Muted>;
  }
  const sources = [...new Set(edges.filter(({ target }) => target === nodeId).map(({ source }) => source))];
  const inputs: JsonObject = Object.fromEntries(
    sources.flatMap((id) => {
      const output = own(runs, id)?.output;
      return output === undefined ? [] : [[id, output as JsonValue]];
    }),
  );
  const log = detail.data?.log ?? [];
  return (
    <Stack gap={4} h="100%">
      <Group gap="xs" wrap="nowrap">
        <Text size="sm" fw={600} truncate>
          {titleOf(node, nodeTypes)}
        </Text>
        <RunLine run={run} />
      </Group>
      <Tabs defaultValue="output" keepMounted={false} flex={1} mih={0}>
        <Tabs.List>
          <Tabs.Tab value="input">{t('trying.input')}</Tabs.Tab>
          <Tabs.Tab value="output">{t('trying.output')}</Tabs.Tab>
          <Tabs.Tab value="log">{t('trying.log', { count: log.length })}</Tabs.Tab>
        </Tabs.List>
        <ScrollArea h="calc(100% - 36px)" type="auto">
          <Tabs.Panel value="input" pt="xs">
            <JsonText
              value={sources.length === 0 ? (run.output ?? {}) : inputs}
              label={t('trying.input')}
              {...HEIGHTS}
            />
          </Tabs.Panel>
          <Tabs.Panel value="output" pt="xs">
            {run.error !== undefined && (
              <Text size="sm" c="var(--mantine-color-error)" mb="xs" style={{ overflowWrap: 'anywhere' }}>
                {run.error.code}: {translateMessage(run.error)}
              </Text>
            )}
            <JsonText
              value={detail.data?.output ?? run.output ?? {}}
              label={t('trying.output')}
              {...HEIGHTS}
            />
          </Tabs.Panel>
          <Tabs.Panel value="log" pt="xs">
            {log.length === 0 ? (
              <Muted>{t('trying.noLog')}</Muted>
            ) : (
              <Code block tabIndex={0}>
                {log.map(({ level, text }) => `${level}: ${text}`).join('\n')}
              </Code>
            )}
          </Tabs.Panel>
        </ScrollArea>
      </Tabs>
    </Stack>
  );
}

/** The panel scrolls, not the value. */
const HEIGHTS = { minHeight: 40, maxHeight: 2_000 };
