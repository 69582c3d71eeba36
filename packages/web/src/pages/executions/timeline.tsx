import { Group, SegmentedControl, Stack, Table, Text, Title, VisuallyHidden } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { ExecutionDetail, NodeSummary } from '@millrace/admin-api';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { formatDuration, Moment } from '../../ui/time.tsx';
import { NodeStatus } from './status.tsx';
import classes from './timeline.module.css';
import { type Bar, type Lane, lanesOf, placeOf, type Scale, scaleOf, ticksOf } from './timeline-scale.ts';
import { isUnderWay, useNow } from './use-now.ts';

/** Labels need room. */
const MAX_TICKS = { wide: 4, narrow: 2 };
const KINDS = ['run', 'retry', 'delay', 'signal'] as const;

interface Shown {
  /** By node inside a loop: that loop. */
  readonly parents: ReadonlyMap<string, string>;
  readonly labels: ReadonlyMap<string, string>;
  readonly chosen: string | null;
  readonly onChoose: (nodeId: string) => void;
}

/** When each node ran, was retried and waited, with its tokens: as a chart, and the same as a table. */
export function Timeline({ detail, ...shown }: Shown & { readonly detail: ExecutionDetail }) {
  const { t } = useTranslation();
  const [view, setView] = useState('chart');
  const now = useNow(isUnderWay(detail.execution.status));
  const lanes = lanesOf(detail, shown.parents, now);
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
      {lanes.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('executions.detail.noNodes')}
        </Text>
      )}
      {lanes.length > 0 && view === 'chart' && <Chart lanes={lanes} detail={detail} {...shown} />}
      {lanes.length > 0 && view === 'table' && <SpanTable lanes={lanes} {...shown} />}
    </Stack>
  );
}

function Chart({
  lanes,
  detail,
  ...shown
}: Shown & { readonly lanes: readonly Lane[]; readonly detail: ExecutionDetail }) {
  const { t } = useTranslation();
  const scale = scaleOf(lanes);
  const tokens = detail.execution.consumed_ai_tokens;
  return (
    <>
      <div className={classes.chart}>
        <div className={classes.axis} aria-hidden>
          <span>{t('executions.timeline.node')}</span>
          <Ticks scale={scale} hasLabels />
          <span className={classes.number}>{t('executions.timeline.duration')}</span>
          <span className={`${classes.number} ${classes.tokens}`}>{t('executions.node.tokens')}</span>
        </div>
        {lanes.map((lane) => (
          <LaneRow key={lane.node.node_id} lane={lane} scale={scale} {...shown} />
        ))}
        {tokens > 0 && (
          <div className={classes.axis}>
            <span>{t('executions.timeline.total')}</span>
            <span />
            <span className={classes.number}>{formatDuration(scale.toMs - scale.fromMs)}</span>
            <span className={`${classes.number} ${classes.tokens}`}>{tokens.toLocaleString()}</span>
          </div>
        )}
      </div>
      <Legend lanes={lanes} />
    </>
  );
}

function Ticks({ scale, hasLabels = false }: { readonly scale: Scale; readonly hasLabels?: boolean }) {
  const isNarrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const whole = scale.toMs - scale.fromMs;
  return (
    <span className={classes.track}>
      {ticksOf(scale, isNarrow ? MAX_TICKS.narrow : MAX_TICKS.wide).map((at) => (
        <span key={at} className={classes.tick} style={{ left: `${(at / whole) * 100}%` }}>
          {hasLabels && at < whole * 0.85 && formatDuration(at)}
        </span>
      ))}
    </span>
  );
}

function LaneRow({
  lane,
  scale,
  labels,
  chosen,
  onChoose,
}: Shown & { readonly lane: Lane; readonly scale: Scale }) {
  const { t } = useTranslation();
  const { node, bars, depth } = lane;
  const label = labels.get(node.node_id) ?? node.node_id;
  const spoken = [
    label,
    t(`executions.nodeStatus.${node.status}`),
    ...bars.map(
      (bar) => `${t(`executions.timeline.${bar.span.kind}`)} ${formatDuration(bar.toMs - bar.fromMs)}`,
    ),
  ].join(', ');
  return (
    <button
      type="button"
      className={classes.lane}
      aria-pressed={chosen === node.node_id}
      onClick={() => onChoose(node.node_id)}
    >
      <VisuallyHidden>{spoken}</VisuallyHidden>
      <span className={classes.name} style={{ paddingInlineStart: depth * 12 }} title={label} aria-hidden>
        <strong>{DOTS[node.status]}</strong>
        <span>{label}</span>
        {node.iterations !== undefined && <span>×{node.iterations}</span>}
      </span>
      <span className={classes.track} aria-hidden>
        <Ticks scale={scale} />
        {bars.map((bar) => (
          <BarMark
            key={`${bar.span.kind} ${bar.span.started_at} ${bar.span.attempt}`}
            bar={bar}
            scale={scale}
            node={node}
          />
        ))}
      </span>
      <span className={classes.number} aria-hidden>
        {formatDuration(lengthOf(bars))}
      </span>
      <span className={`${classes.number} ${classes.tokens}`} aria-hidden>
        {node.consumed_ai_tokens === 0 ? '' : node.consumed_ai_tokens.toLocaleString()}
      </span>
    </button>
  );
}

const DOTS: { readonly [S in NodeSummary['status']]: string } = {
  success: '✓',
  failed: '✕',
  skipped: '–',
  running: '▸',
  waiting: '…',
  cancelled: '⊘',
};

function BarMark({
  bar,
  scale,
  node,
}: {
  readonly bar: Bar;
  readonly scale: Scale;
  readonly node: NodeSummary;
}) {
  const { t } = useTranslation();
  const { span } = bar;
  const { left, width } = placeOf(bar, scale);
  const what = t(`executions.timeline.${span.kind}`);
  const attempt = t('executions.timeline.attempt', { attempt: span.attempt });
  const error = span.error === undefined ? '' : `\n${span.error.code}: ${span.error.message}`;
  return (
    <span
      className={classes.bar}
      data-kind={span.kind}
      data-state={stateOf(span, node)}
      title={`${what}, ${attempt}\n${formatDuration(bar.toMs - bar.fromMs)}${error}`}
      style={{ left: `min(${left}%, calc(100% - 3px))`, width: `${width}%` }}
    />
  );
}

function stateOf(span: Bar['span'], node: NodeSummary): string {
  if (span.error !== undefined) return 'failed';
  if (span.ended_at === null) return span.kind === 'run' ? 'open' : 'wait';
  return node.status === 'cancelled' && span.kind === 'run' ? 'cancelled' : 'ended';
}

function Legend({ lanes }: { readonly lanes: readonly Lane[] }) {
  const { t } = useTranslation();
  const used = new Set(lanes.flatMap(({ bars }) => bars.map(({ span }) => span.kind)));
  const hasFailed = lanes.some(({ bars }) => bars.some(({ span }) => span.error !== undefined));
  return (
    <div className={classes.legend} aria-hidden>
      {KINDS.filter((kind) => used.has(kind)).map((kind) => (
        <span key={kind}>
          <i className={`${classes.bar} ${classes.swatch}`} data-kind={kind} />
          {t(`executions.timeline.${kind}`)}
        </span>
      ))}
      {hasFailed && (
        <span>
          <i className={`${classes.bar} ${classes.swatch}`} data-kind="run" data-state="failed" />
          {t('executions.nodeStatus.failed')}
        </span>
      )}
    </div>
  );
}

function SpanTable({ lanes, labels, onChoose }: Shown & { readonly lanes: readonly Lane[] }) {
  const { t } = useTranslation();
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table verticalSpacing={4} aria-label={t('executions.timeline.label')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('executions.timeline.node')}</Table.Th>
            <Table.Th>{t('executions.timeline.what')}</Table.Th>
            <Table.Th>{t('executions.timeline.start')}</Table.Th>
            <Table.Th ta="right">{t('executions.timeline.duration')}</Table.Th>
            <Table.Th>{t('executions.timeline.result')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {lanes.flatMap(({ node, bars }) =>
            bars.map((bar, index) => (
              <Table.Tr
                key={`${node.node_id} ${bar.span.kind} ${bar.span.started_at} ${bar.span.attempt}`}
                onClick={() => onChoose(node.node_id)}
              >
                <Table.Td>{index === 0 ? (labels.get(node.node_id) ?? node.node_id) : ''}</Table.Td>
                <Table.Td>
                  {t(`executions.timeline.${bar.span.kind}`)}
                  {bar.span.kind === 'run' &&
                    `, ${t('executions.timeline.attempt', { attempt: bar.span.attempt })}`}
                </Table.Td>
                <Table.Td>
                  <Moment at={bar.span.started_at} relative={false} />
                </Table.Td>
                <Table.Td className={classes.number}>{formatDuration(bar.toMs - bar.fromMs)}</Table.Td>
                <Table.Td>
                  <Result bar={bar} node={node} isLast={index === bars.length - 1} />
                </Table.Td>
              </Table.Tr>
            )),
          )}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Result({
  bar,
  node,
  isLast,
}: {
  readonly bar: Bar;
  readonly node: NodeSummary;
  readonly isLast: boolean;
}) {
  const { t } = useTranslation();
  const { span } = bar;
  if (span.error !== undefined) return <Text size="sm">{`${span.error.code}: ${span.error.message}`}</Text>;
  if (span.ended_at === null) return <Text size="sm">{t('executions.timeline.underWay')}</Text>;
  return isLast ? <NodeStatus status={node.status} /> : null;
}

function lengthOf(bars: readonly Bar[]): number {
  const [first] = bars;
  const last = bars.at(-1);
  return first === undefined || last === undefined ? 0 : last.toMs - first.fromMs;
}
