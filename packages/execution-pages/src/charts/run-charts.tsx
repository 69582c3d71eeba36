import '@millrace/ui/i18n/parts/runs.ts';
import '@millrace/ui/i18n/parts/executions.ts';
import { Group, SegmentedControl, Stack, Table, Text, Title } from '@mantine/core';
import type { ResponseBody, RunBar } from '@millrace/admin-api';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { QueryState } from '@millrace/ui/components/paged-list.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { formatDuration } from '@millrace/ui/components/time.tsx';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { BarChart, type Places } from './bar-chart.tsx';
import { roundUp } from './chart-scale.ts';
import classes from './run-charts.module.css';

const RANGES = ['day', 'week', 'month', 'quarter'] as const;
type Range = (typeof RANGES)[number];
const REFETCH_MS = 60_000;
type Runs = ResponseBody<'GET /orgs/:org/workflows/:id/runs'>;

/** Runs, failures and durations of a workflow over time, as charts or as a table. Fits any page. */
export function RunCharts({ workflowId }: { workflowId: number }) {
  const { t } = useTranslation();
  const org = useOrg();
  const [range, setRange] = useState<Range>('week');
  const [look, setLook] = useState<'chart' | 'table'>('chart');
  const query = useQuery({
    ...endpointQuery('GET /orgs/:org/workflows/:id/runs', {
      params: { org, id: workflowId },
      query: { range },
    }),
    refetchInterval: REFETCH_MS,
    placeholderData: keepPreviousData,
  });
  return (
    <Stack gap="xs" component="section" aria-label={t('runs.charts.title')}>
      <Group justify="space-between" gap="xs">
        <Title order={2} size="h4">
          {t('runs.charts.title')}
        </Title>
        <Group gap="xs">
          <SegmentedControl
            size="xs"
            aria-label={t('runs.charts.range')}
            data={RANGES.map((value) => ({ value, label: t(`runs.charts.ranges.${value}`) }))}
            value={range}
            onChange={(value) => setRange(value as Range)}
          />
          <SegmentedControl
            size="xs"
            aria-label={t('runs.charts.look')}
            data={[
              { value: 'chart', label: t('executions.detail.asChart') },
              { value: 'table', label: t('executions.detail.asTable') },
            ]}
            value={look}
            onChange={(value) => setLook(value as typeof look)}
          />
        </Group>
      </Group>
      <QueryState query={query} rows={3} />
      {query.data !== undefined && <Content runs={query.data} look={look} />}
    </Stack>
  );
}

function Content({ runs, look }: { runs: Runs; look: 'chart' | 'table' }) {
  const { t, i18n } = useTranslation();
  const { bars, step, time_zone: timeZone } = runs;
  const total = bars.reduce((sum, { completed, failed }) => sum + completed + failed, 0);
  const format = new Intl.DateTimeFormat(i18n.language, {
    timeZone,
    ...(step === 'hour' ? { hour: 'numeric', minute: '2-digit' } : { month: 'numeric', day: 'numeric' }),
  });
  const timeOf = (bar: RunBar) => format.format(new Date(bar.at));
  if (total === 0) return <Hint>{t('runs.charts.none')}</Hint>;
  return (
    <>
      {look === 'chart' ? (
        <div className={classes.charts}>
          <RunsChart bars={bars} timeOf={timeOf} />
          <DurationsChart bars={bars} timeOf={timeOf} />
        </div>
      ) : (
        <RunsTable bars={bars} timeOf={timeOf} />
      )}
      <Hint>{t('runs.charts.about', { zone: timeZone })}</Hint>
    </>
  );
}

interface PartProps {
  bars: readonly RunBar[];
  timeOf: (bar: RunBar) => string;
}

function RunsChart({ bars, timeOf }: PartProps) {
  const { t } = useTranslation();
  const completed = bars.reduce((sum, bar) => sum + bar.completed, 0);
  const failed = bars.reduce((sum, bar) => sum + bar.failed, 0);
  const counts = { completed: completed.toLocaleString(), failed: failed.toLocaleString() };
  return (
    <div>
      <BarChart
        bars={bars}
        top={roundUp(Math.max(...bars.map((bar) => bar.completed + bar.failed)))}
        label={t('runs.charts.runsLabel', counts)}
        timeOf={timeOf}
        textOf={(value) => value.toLocaleString()}
        describe={(bar) =>
          `${timeOf(bar)} · ${t('runs.charts.runsLabel', {
            completed: bar.completed.toLocaleString(),
            failed: bar.failed.toLocaleString(),
          })}`
        }
      >
        {({ middleOf, width, heightOf, floor }) =>
          bars.map((bar, place) => {
            const x = middleOf(place) - width / 2;
            const both = heightOf(bar.completed + bar.failed);
            const border = heightOf(bar.completed);
            return (
              <g key={bar.at}>
                {bar.completed > 0 && (
                  <rect
                    className={classes.completed}
                    x={x}
                    y={border}
                    width={width}
                    height={floor - border}
                  />
                )}
                {/* A single failure among many runs stays visible. */}
                {bar.failed > 0 && (
                  <rect
                    className={classes.failed}
                    x={x}
                    y={Math.min(both, border - 2)}
                    width={width}
                    height={Math.max(2, border - both)}
                  />
                )}
              </g>
            );
          })
        }
      </BarChart>
      <div className={classes.legend}>
        <span>
          <svg aria-hidden="true">
            <rect className={classes.completed} width="14" height="10" />
          </svg>
          {t('runs.charts.completed', counts)}
        </span>
        <span>
          <svg aria-hidden="true">
            <rect className={classes.failed} width="14" height="10" />
          </svg>
          {t('runs.charts.failed', counts)}
        </span>
      </div>
    </div>
  );
}

const LINES = [
  { member: 'median_ms', className: classes.median },
  { member: 'p95_ms', className: classes.p95 },
] as const;

function DurationsChart({ bars, timeOf }: PartProps) {
  const { t } = useTranslation();
  const top = roundUp(Math.max(...bars.map((bar) => bar.p95_ms ?? 0)));
  const text = (ms: number | null) => (ms === null ? '–' : formatDuration(ms));
  return (
    <div>
      <BarChart
        bars={bars}
        top={top}
        label={t('runs.charts.durationsLabel', { most: formatDuration(top) })}
        timeOf={timeOf}
        textOf={(value) => (value === 0 ? '0' : formatDuration(value))}
        describe={(bar) =>
          `${timeOf(bar)} · ${t('runs.charts.median')} ${text(bar.median_ms)} · ${t('runs.charts.p95')} ${text(bar.p95_ms)}`
        }
      >
        {(places) =>
          LINES.map(({ member, className }) => (
            <Line key={member} bars={bars} places={places} member={member} className={className} />
          ))
        }
      </BarChart>
      <div className={classes.legend}>
        {LINES.map(({ member, className }) => (
          <span key={member}>
            <svg aria-hidden="true">
              <line className={className} x1="0" x2="14" y1="5" y2="5" />
            </svg>
            {t(member === 'median_ms' ? 'runs.charts.median' : 'runs.charts.p95')}
          </span>
        ))}
      </div>
    </div>
  );
}

/** Joins neighbours; one between hours or days without runs is a dot. */
function Line({
  bars,
  places: { middleOf, heightOf },
  member,
  className,
}: {
  bars: readonly RunBar[];
  places: Places;
  member: 'median_ms' | 'p95_ms';
  className: string | undefined;
}) {
  const parts = bars.map((bar, place) => {
    const value = bar[member];
    if (value === null) return '';
    const isJoined = (bars[place - 1]?.[member] ?? null) !== null;
    return `${isJoined ? 'L' : 'M'}${middleOf(place)} ${heightOf(value)}`;
  });
  return (
    <>
      <path className={className} d={parts.join('')} />
      {bars.map((bar, place) => {
        const value = bar[member];
        return value === null ? null : (
          <circle
            key={bar.at}
            className={`${className} ${classes.dot}`}
            cx={middleOf(place)}
            cy={heightOf(value)}
            r="2.5"
          />
        );
      })}
    </>
  );
}

function RunsTable({ bars, timeOf }: PartProps) {
  const { t } = useTranslation();
  const text = (ms: number | null) => (ms === null ? '–' : formatDuration(ms));
  return (
    <Table.ScrollContainer minWidth={360} mah={360}>
      <Table verticalSpacing={4} aria-label={t('runs.charts.title')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('runs.charts.time')}</Table.Th>
            <Table.Th className={classes.number}>{t('executions.status.completed')}</Table.Th>
            <Table.Th className={classes.number}>{t('executions.status.failed')}</Table.Th>
            <Table.Th className={classes.number}>{t('runs.charts.median')}</Table.Th>
            <Table.Th className={classes.number}>{t('runs.charts.p95')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {bars.toReversed().map((bar) => (
            <Table.Tr key={bar.at}>
              <Table.Td>
                <Text span size="sm">
                  {timeOf(bar)}
                </Text>
              </Table.Td>
              <Table.Td className={classes.number}>{bar.completed.toLocaleString()}</Table.Td>
              <Table.Td className={classes.number}>{bar.failed.toLocaleString()}</Table.Td>
              <Table.Td className={classes.number}>{text(bar.median_ms)}</Table.Td>
              <Table.Td className={classes.number}>{text(bar.p95_ms)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
