import { Badge, Group } from '@mantine/core';
import type { NodeRun } from '@millrace/editor-model/editor-state.ts';
import { NODE_STATUS_STYLES } from '@millrace/ui/components/status-styles.ts';
import { Hint } from '@millrace/ui/components/text.tsx';
import { formatDuration } from '@millrace/ui/components/time.tsx';
import { useTranslation } from 'react-i18next';

/** A node's result on one line: status, duration, attempts, tokens. */
export function RunLine({ run }: { run: NodeRun }) {
  const { t } = useTranslation();
  const { started_at: start, completed_at: end, consumed_ai_tokens: tokens = 0, attempts = 1 } = run;
  return (
    <Group gap="xs">
      <Badge color={NODE_STATUS_STYLES[run.status].color}>{t(`common.nodeStatus.${run.status}`)}</Badge>
      {start != null && end != null && (
        <Hint>{formatDuration(Math.max(0, Date.parse(end) - Date.parse(start)))}</Hint>
      )}
      {attempts > 1 && <Hint>{t('common.attempts', { count: attempts })}</Hint>}
      {tokens > 0 && <Hint>{t('common.tokens', { count: tokens })}</Hint>}
    </Group>
  );
}
