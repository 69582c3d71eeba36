import { Badge, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { NodeRun } from '../canvas/editor-state.ts';
import { formatDuration } from '../ui/time.tsx';

const COLOURS: { readonly [S in NodeRun['status']]: string } = {
  success: 'green',
  failed: 'red',
  skipped: 'gray',
  running: 'blue',
  waiting: 'yellow',
  cancelled: 'gray',
};

/** What became of a node in a line: status, how long it took, attempts, tokens. */
export function RunLine({ run }: { readonly run: NodeRun }) {
  const { t } = useTranslation();
  const { started_at: start, completed_at: end, consumed_ai_tokens: tokens = 0, attempts = 1 } = run;
  return (
    <Group gap="xs">
      <Badge color={COLOURS[run.status]}>{t(`forms.status.${run.status}`)}</Badge>
      {start != null && end != null && (
        <Text size="xs" c="dimmed">
          {formatDuration(Math.max(0, Date.parse(end) - Date.parse(start)))}
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
  );
}
