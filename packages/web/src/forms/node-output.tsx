import { Badge, Code, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useEditor } from '../canvas/store.ts';
import { JsonViewer } from '../ui/json-viewer.tsx';
import { formatDuration } from '../ui/time.tsx';

/** What a node put out in the execution that the canvas shows. */
export function NodeOutput({ nodeId }: { readonly nodeId: string }) {
  const { t } = useTranslation();
  const run = useEditor((state) => state.runs[nodeId]);
  if (run === undefined) {
    return (
      <Text size="sm" c="dimmed">
        {t('forms.noOutput')}
      </Text>
    );
  }
  const { started_at: start, completed_at: end, consumed_ai_tokens: tokens = 0, attempts = 1 } = run;
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Badge color={run.status === 'failed' ? 'red' : run.status === 'success' ? 'green' : 'gray'}>
          {t(`forms.status.${run.status}`)}
        </Badge>
        {start != null && end != null && (
          <Text size="xs" c="dimmed">
            {formatDuration(Date.parse(end) - Date.parse(start))}
          </Text>
        )}
        {attempts > 1 && (
          <Text size="xs" c="dimmed">
            {t('forms.attempts', { count: attempts })}
          </Text>
        )}
        {tokens > 0 && (
          <Text size="xs" c="dimmed">
            {t('forms.tokens', { count: tokens })}
          </Text>
        )}
      </Group>
      {run.error !== undefined && (
        <Code block color="var(--mantine-color-red-light)" style={{ whiteSpace: 'pre-wrap' }}>
          {`${run.error.code}: ${run.error.message}`}
        </Code>
      )}
      {run.output !== undefined && (
        <JsonViewer
          value={run.output}
          label={t('forms.output')}
          fileName={`${nodeId}.json`}
          pathPrefix={`nodes.${nodeId}.output`}
        />
      )}
    </Stack>
  );
}
