import { Badge, Stack, Table, Text, Tooltip } from '@mantine/core';
import type { WorkerItem } from '@millrace/admin-api';
import { CircleCheck, CircleX, Server } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '../../ui/states.tsx';
import { Moment } from '../../ui/time.tsx';

/** The workers that live, and those that have lately fallen silent. */
export function WorkerTable({ items }: { readonly items: readonly WorkerItem[] }) {
  const { t, i18n } = useTranslation();
  if (items.length === 0) {
    return (
      <EmptyState icon={Server} title={t('system.noWorkers')}>
        {t('system.noWorkersHint')}
      </EmptyState>
    );
  }
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('system.host')}</Table.Th>
            <Table.Th>{t('system.health')}</Table.Th>
            <Table.Th ta="right">{t('system.holds')}</Table.Th>
            <Table.Th>{t('system.heartbeat')}</Table.Th>
            <Table.Th>{t('system.startedAt')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((worker) => (
            <Table.Tr key={worker.id}>
              <Table.Td>
                <Stack gap={0} maw={260}>
                  <Text size="sm" truncate title={worker.host}>
                    {worker.host}
                  </Text>
                  <Text size="xs" c="dimmed" ff="monospace">
                    {t('system.process')} {worker.pid}
                  </Text>
                </Stack>
              </Table.Td>
              <Table.Td>
                <WorkerState isAlive={worker.is_alive} />
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
    </Table.ScrollContainer>
  );
}

function WorkerState({ isAlive }: { readonly isAlive: boolean }) {
  const { t } = useTranslation();
  if (isAlive) {
    return (
      <Badge color="green" leftSection={<CircleCheck size={10} aria-hidden />}>
        {t('system.alive')}
      </Badge>
    );
  }
  return (
    <Tooltip label={t('system.silentHint')} multiline maw={280}>
      <Badge color="gray" leftSection={<CircleX size={10} aria-hidden />} tabIndex={0}>
        {t('system.silent')}
      </Badge>
    </Tooltip>
  );
}
