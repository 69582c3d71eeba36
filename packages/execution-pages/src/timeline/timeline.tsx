import { Group, SegmentedControl, Skeleton, Stack, Title } from '@mantine/core';
import type { ExecutionDetail } from '@millrace/admin-api';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { Muted } from '@millrace/ui/components/text.tsx';
import { useNow } from '@millrace/ui/components/use-now.ts';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isUnderWay } from '../common/under-way.ts';
import { TimelineChart } from './timeline-chart.tsx';
import type { TimelineProps } from './timeline-props.ts';
import { lanesAt, lanesOf } from './timeline-scale.ts';

const TimelineTable = lazyPart(
  async () => (await import('./timeline-table.tsx')).TimelineTable,
  () => <Skeleton h={120} />,
);

/** When each node ran, was retried and waited, with its tokens: a chart, and the same as a table. */
export function Timeline({ detail, onChoose, ...given }: TimelineProps & { detail: ExecutionDetail }) {
  const { t } = useTranslation();
  const [view, setView] = useState('chart');
  // A stable callback, so that lanes re-render only when they change.
  const latest = useRef(onChoose);
  useEffect(() => {
    latest.current = onChoose;
  });
  const choose = useCallback((nodeId: string) => latest.current(nodeId), []);
  const shown = { ...given, onChoose: choose };
  const { parents } = given;
  const now = useNow(isUnderWay(detail.execution.status));
  const lanesAtStart = useMemo(() => lanesOf(detail, parents), [detail, parents]);
  const lanes = lanesAt(lanesAtStart, now);
  return (
    <Stack gap="xs" component="section" aria-label={t('executions.timeline.label')}>
      <Group justify="space-between">
        <Title order={2}>{t('executions.detail.timeline')}</Title>
        <SegmentedControl
          size="xs"
          value={view}
          onChange={setView}
          data={[
            { value: 'chart', label: t('executions.detail.asChart') },
            { value: 'table', label: t('executions.detail.asTable') },
          ]}
        />
      </Group>
      {lanes.length === 0 && <Muted>{t('executions.detail.noNodes')}</Muted>}
      {lanes.length > 0 && view === 'chart' && (
        <TimelineChart lanes={lanes} tokens={detail.execution.consumed_ai_tokens} {...shown} />
      )}
      {lanes.length > 0 && view === 'table' && <TimelineTable lanes={lanes} {...shown} />}
    </Stack>
  );
}
