import { Group, Stack, Text } from '@mantine/core';
import type { WorkerItem, WorkerState } from '@millrace/admin-api';
import { DataTable } from '@millrace/ui/components/data-table.tsx';
import { IconBadge } from '@millrace/ui/components/icon-badge.tsx';
import { EmptyState } from '@millrace/ui/components/states.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { CircleCheck, CircleStop, CircleX, type LucideIcon, Server } from 'lucide-react';
import { useTranslation } from 'react-i18next';

/** The workers that live, and those that ended lately; in a narrow window as a list. */
export function WorkerTable({ items }: { items: readonly WorkerItem[] }) {
  const { t, i18n } = useTranslation();
  if (items.length === 0) {
    return (
      <EmptyState icon={Server} title={t('system.noWorkers')}>
        {t('system.noWorkersHint')}
      </EmptyState>
    );
  }
  const running = (worker: WorkerItem) => worker.running.toLocaleString(i18n.language);
  return (
    <DataTable
      items={items}
      columns={[
        { head: t('system.host'), cell: (worker) => <Process worker={worker} /> },
        { head: t('system.health'), width: 150, cell: ({ state }) => <State state={state} /> },
        { head: t('system.holds'), width: 110, isNumber: true, cell: running },
        { head: t('system.heartbeat'), width: 150, cell: (worker) => <Moment at={worker.heartbeat_at} /> },
        { head: t('system.startedAt'), width: 150, cell: (worker) => <Moment at={worker.started_at} /> },
      ]}
      narrow={(worker) => (
        <>
          <Group justify="space-between" wrap="nowrap" align="flex-start">
            <Process worker={worker} />
            <State state={worker.state} />
          </Group>
          <Group gap="md">
            <Hint component="div">
              {t('system.heartbeat')}: <Moment at={worker.heartbeat_at} />
            </Hint>
            <Hint>
              {t('system.holds')}: {running(worker)}
            </Hint>
          </Group>
        </>
      )}
    />
  );
}

function Process({ worker: { host, pid } }: { worker: WorkerItem }) {
  const { t } = useTranslation();
  return (
    <Stack gap={0} miw={0}>
      <Text size="sm" truncate title={host}>
        {host}
      </Text>
      <Hint ff="monospace">
        {t('system.process')} {pid}
      </Hint>
    </Stack>
  );
}

const STATE_STYLES: {
  readonly [State in WorkerState]: { readonly color: string; readonly icon: LucideIcon };
} = {
  alive: { color: 'green', icon: CircleCheck },
  stopped: { color: 'gray', icon: CircleStop },
  silent: { color: 'orange', icon: CircleX },
};

function State({ state }: { state: WorkerState }) {
  const { t } = useTranslation();
  const hint = state === 'alive' ? {} : { hint: t(`system.workerHint.${state}`), tabIndex: 0 };
  return (
    <IconBadge {...STATE_STYLES[state]} {...hint}>
      {t(`system.worker.${state}`)}
    </IconBadge>
  );
}
