import { Badge, Group, Stack, Table, Text, Tooltip } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { WorkerItem, WorkerState } from '@millrace/admin-api';
import { NarrowItem, NarrowList } from '@millrace/ui/components/data-table.tsx';
import { EmptyState } from '@millrace/ui/components/states.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { CircleCheck, CircleStop, CircleX, type LucideIcon, Server } from 'lucide-react';
import { useTranslation } from 'react-i18next';

/** The workers that live, and those that ended lately; in a narrow window as a list. */
export function WorkerTable({ items }: { items: readonly WorkerItem[] }) {
  const { t, i18n } = useTranslation();
  const isNarrow = useMediaQuery('(max-width: 48em)', false);
  if (items.length === 0) {
    return (
      <EmptyState icon={Server} title={t('system.noWorkers')}>
        {t('system.noWorkersHint')}
      </EmptyState>
    );
  }
  if (isNarrow) {
    return (
      <NarrowList>
        {items.map((worker) => (
          <NarrowItem key={worker.id}>
            <Group justify="space-between" wrap="nowrap" align="flex-start">
              <Process worker={worker} />
              <State state={worker.state} />
            </Group>
            <Group gap="md">
              <Text size="xs" c="dimmed" component="div">
                {t('system.heartbeat')}: <Moment at={worker.heartbeat_at} />
              </Text>
              <Text size="xs" c="dimmed">
                {t('system.holds')}: {worker.running.toLocaleString(i18n.language)}
              </Text>
            </Group>
          </NarrowItem>
        ))}
      </NarrowList>
    );
  }
  return (
    <Table verticalSpacing={6} layout="fixed">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('system.host')}</Table.Th>
          <Table.Th w={150}>{t('system.health')}</Table.Th>
          <Table.Th w={110} ta="right">
            {t('system.holds')}
          </Table.Th>
          <Table.Th w={150}>{t('system.heartbeat')}</Table.Th>
          <Table.Th w={150}>{t('system.startedAt')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {items.map((worker) => (
          <Table.Tr key={worker.id}>
            <Table.Td>
              <Process worker={worker} />
            </Table.Td>
            <Table.Td>
              <State state={worker.state} />
            </Table.Td>
            <Table.Td ta="right" style={{ fontVariantNumeric: 'tabular-nums' }}>
              {worker.running.toLocaleString(i18n.language)}
            </Table.Td>
            <Table.Td>
              <Moment at={worker.heartbeat_at} />
            </Table.Td>
            <Table.Td>
              <Moment at={worker.started_at} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Process({ worker: { host, pid } }: { worker: WorkerItem }) {
  const { t } = useTranslation();
  return (
    <Stack gap={0} miw={0}>
      <Text size="sm" truncate title={host}>
        {host}
      </Text>
      <Text size="xs" c="dimmed" ff="monospace">
        {t('system.process')} {pid}
      </Text>
    </Stack>
  );
}

const LOOKS: {
  readonly [State in WorkerState]: { readonly color: string; readonly icon: LucideIcon };
} = {
  alive: { color: 'green', icon: CircleCheck },
  stopped: { color: 'gray', icon: CircleStop },
  silent: { color: 'orange', icon: CircleX },
};

function State({ state }: { state: WorkerState }) {
  const { t } = useTranslation();
  const { color, icon: Icon } = LOOKS[state];
  const badge = (
    <Badge
      color={color}
      leftSection={<Icon size={10} aria-hidden />}
      style={{ flexShrink: 0 }}
      {...(state === 'alive' ? {} : { tabIndex: 0 })}
    >
      {t(`system.worker.${state}`)}
    </Badge>
  );
  if (state === 'alive') return badge;
  return (
    <Tooltip label={t(`system.workerHint.${state}`)} multiline maw={280}>
      {badge}
    </Tooltip>
  );
}
