import '@millrace/ui/i18n/parts/executions.ts';
import { Table, Text } from '@mantine/core';
import type { NodeSummary } from '@millrace/admin-api';
import { formatDuration, Moment } from '@millrace/ui/components/time.tsx';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import { NodeStatus } from '../common/status.tsx';
import classes from './timeline.module.css';
import type { TimelineProps } from './timeline-props.ts';
import type { Bar, Lane } from './timeline-scale.ts';

/** The timeline in words. */
export function TimelineTable({ lanes, labels, onChoose }: TimelineProps & { lanes: readonly Lane[] }) {
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
            <Table.Th miw={140}>{t('executions.timeline.result')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {lanes.map((lane) => (
            <LaneRows
              key={lane.node.node_id}
              lane={lane}
              label={labels.get(lane.node.node_id) ?? lane.node.node_id}
              onChoose={onChoose}
            />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

const LaneRows = memo(function LaneRows({
  lane: { node, bars },
  label,
  onChoose,
}: {
  lane: Lane;
  label: string;
  onChoose: (nodeId: string) => void;
}) {
  return bars.map((bar, index) => (
    <Table.Tr key={`${bar.kind} ${bar.fromMs} ${bar.attempt}`} onClick={() => onChoose(node.node_id)}>
      <Table.Td>{index === 0 ? label : ''}</Table.Td>
      <Table.Td>
        <What bar={bar} />
      </Table.Td>
      <Table.Td>
        <Moment at={new Date(bar.fromMs).toISOString()} relative={false} />
      </Table.Td>
      <Table.Td className={classes.number}>{formatDuration(bar.toMs - bar.fromMs)}</Table.Td>
      <Table.Td>
        <Result bar={bar} node={node} isLast={index === bars.length - 1} />
      </Table.Td>
    </Table.Tr>
  ));
});

function What({ bar }: { bar: Bar }) {
  const { t } = useTranslation();
  if (bar.kind === 'iterations') return t('executions.timeline.iterations', { count: bar.count });
  if (bar.kind !== 'run') return t(`executions.timeline.kind.${bar.kind}`);
  const attempt = t('executions.timeline.attempt', { attempt: bar.attempt ?? 1 });
  return [t('executions.timeline.kind.run'), attempt].join(t('common.listSeparator'));
}

function Result({ bar, node, isLast }: { bar: Bar; node: NodeSummary; isLast: boolean }) {
  const { t } = useTranslation();
  if (bar.error !== undefined)
    return <Text size="sm">{`${bar.error.code}: ${translateMessage(bar.error)}`}</Text>;
  if (bar.isOpen) return <Text size="sm">{t('executions.timeline.underWay')}</Text>;
  if (bar.failed > 0) return <Text size="sm">{t('executions.timeline.failed', { count: bar.failed })}</Text>;
  return isLast ? <NodeStatus status={node.status} /> : null;
}
