import { Stack, Title } from '@mantine/core';
import type { ExecutionDetail } from '@millrace/admin-api';
import { JsonViewer } from '@millrace/ui/components/json-viewer.tsx';
import { Muted } from '@millrace/ui/components/text.tsx';
import { useTranslation } from 'react-i18next';

/** What the execution was given, while no node is chosen. */
export function ExecutionSide({ detail }: { detail: ExecutionDetail }) {
  const { t } = useTranslation();
  return (
    <Stack gap="xs">
      <Title order={2}>{t('executions.detail.input')}</Title>
      <JsonViewer
        value={detail.input_data}
        label={t('executions.detail.input')}
        fileName={`execution-${detail.execution.id}-input.json`}
        pathPrefix="trigger.data"
      />
      <Muted>
        {detail.nodes.length === 0 ? t('executions.detail.noNodes') : t('executions.detail.pickNode')}
      </Muted>
    </Stack>
  );
}
