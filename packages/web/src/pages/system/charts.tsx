import { Group, SegmentedControl, SimpleGrid, Skeleton, Text } from '@mantine/core';
import type { SystemSample } from '@millrace/admin-api';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { EmptyState, ErrorState } from '@millrace/ui/components/states.tsx';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ChartLine } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CHART_HEIGHT, type Line } from './chart-lines.ts';
import { formatBytes } from './format.ts';

const Chart = lazyPart(
  async () => (await import('./chart.tsx')).default,
  () => <Skeleton height={CHART_HEIGHT} />,
);

const SPANS = ['1', '6', '24', '168'] as const;
type Span = (typeof SPANS)[number];
const REFRESH_MS = 30_000;

/** The last hours as charts, stacked in a narrow window. */
export function Charts() {
  const { t, i18n } = useTranslation();
  const [span, setSpan] = useState<Span>('6');
  const samples = useQuery({
    ...endpointQuery('GET /system/samples', { query: { hours: Number(span) } }),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
  const items = samples.data?.items ?? [];
  const number = (value: number) => value.toLocaleString(i18n.language, { maximumFractionDigits: 1 });
  const bytes = (value: number) => formatBytes(value, i18n.language);
  const line = (label: string, color: Line['color'], of: (sample: SystemSample) => number | null): Line => ({
    label,
    color,
    values: items.map(of),
  });
  const charts = [
    {
      title: t('system.chartQueue'),
      format: number,
      lines: [
        line(t('executions.status.queued'), 'orange', (each) => each.queued),
        line(t('executions.status.running'), 'teal', (each) => each.running),
        line(t('executions.status.waiting_async'), 'grape', (each) => each.waiting),
      ],
    },
    {
      title: t('system.chartRate'),
      format: number,
      lines: [
        line(t('system.started'), 'teal', (each) => each.started_per_minute),
        line(t('system.failed'), 'red', (each) => each.failed_per_minute),
      ],
    },
    {
      title: t('system.chartWorkers'),
      format: number,
      lines: [line(t('system.workersAlive'), 'teal', (each) => each.workers)],
    },
    {
      title: t('system.chartDatabase'),
      format: bytes,
      lines: [line(t('system.databaseSize'), 'teal', (each) => each.database_bytes)],
    },
  ];
  return (
    <div>
      <Group justify="flex-end" mb="xs">
        <SegmentedControl
          size="xs"
          aria-label={t('system.hours')}
          data={SPANS.map((each) => ({ value: each, label: t(`system.span.${each}`) }))}
          value={span}
          onChange={(next) => setSpan(next as Span)}
        />
      </Group>
      {samples.isError && <ErrorState error={samples.error} onRetry={samples.refetch} />}
      {samples.isPending && <Skeleton height={CHART_HEIGHT} />}
      {samples.isSuccess && items.length < 2 && (
        <EmptyState icon={ChartLine} title={t('system.noSamples')}>
          {t('system.noSamplesHint')}
        </EmptyState>
      )}
      {items.length >= 2 && (
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          {charts.map((chart) => (
            <Titled key={chart.title} {...chart} items={items} hours={Number(span)} />
          ))}
        </SimpleGrid>
      )}
    </div>
  );
}

interface TitledProps {
  title: string;
  items: readonly SystemSample[];
  hours: number;
  lines: readonly Line[];
  format: (value: number) => string;
}

/** A titled chart, with the latest values for screen readers. */
function Titled({ title, items, hours, lines, format }: TitledProps) {
  const { t, i18n } = useTranslation();
  const latest = lines.map(({ label, values }) => {
    const value = values.at(-1) ?? null;
    return `${label} ${value === null ? '–' : format(value)}`;
  });
  return (
    <figure style={{ margin: 0, minWidth: 0 }}>
      <Text component="figcaption" size="sm" fw={600} mb={4}>
        {title}
      </Text>
      <div role="img" aria-label={t('system.chartSummary', { name: title, values: latest.join(', ') })}>
        <Chart
          at={items.map((sample) => Date.parse(sample.at) / 1_000)}
          hours={hours}
          lines={lines}
          format={format}
          language={i18n.language}
          timeLabel={t('system.time')}
        />
      </div>
    </figure>
  );
}
