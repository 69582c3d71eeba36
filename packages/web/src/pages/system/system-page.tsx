import '@millrace/ui/i18n/parts/executions.ts';
import '@millrace/ui/i18n/parts/storage.ts';
import '@millrace/ui/i18n/parts/system.ts';
import { Box, Group, SimpleGrid, Stack, Text, Title, VisuallyHidden } from '@mantine/core';
import type { HealthState, SystemState, WorkerItem, WorkerState } from '@millrace/admin-api';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { DataTable } from '@millrace/ui/components/data-table.tsx';
import { IconBadge } from '@millrace/ui/components/icon-badge.tsx';
import { Page } from '@millrace/ui/components/page.tsx';
import { EmptyState, ErrorState, LoadingRows } from '@millrace/ui/components/states.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { useQuery } from '@tanstack/react-query';
import { CircleCheck, CircleStop, CircleX, type LucideIcon, Server, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Trans, useTranslation } from 'react-i18next';
import { OrganisationsStorage } from '../storage/organisations-storage.tsx';
import { Charts } from './charts.tsx';
import { Diagnosis } from './diagnosis.tsx';
import { formatBytes } from './format.ts';

const REFRESH_MS = 5_000;

/** The service's health: now, and over the last hours. */
export function SystemPage() {
  const { t } = useTranslation();
  const system = useQuery({ ...endpointQuery('GET /system'), refetchInterval: REFRESH_MS });
  return (
    <Page title={t('system.title')} description={t('system.about')}>
      {system.isPending && <LoadingRows />}
      {/* Keep the last known state while the service is briefly unreachable. */}
      {system.isError && system.data === undefined && (
        <ErrorState error={system.error} onRetry={system.refetch} />
      )}
      {system.data !== undefined && (
        <>
          <Figures state={system.data} />
          <Health state={system.data} />
          <Diagnosis />
          <Charts />
          <Stack gap="xs">
            <Title order={2}>{t('system.workers')}</Title>
            <WorkerTable items={system.data.workers} />
          </Stack>
          <OrganisationsStorage />
          <Hint>
            {t('system.version', { version: system.data.version })} ·{' '}
            {t('system.versions', {
              node: system.data.node_version,
              postgresql: system.data.postgresql_version,
              schema: system.data.schema_version,
            })}
          </Hint>
        </>
      )}
    </Page>
  );
}

function Figures({ state }: { state: SystemState }) {
  const { t, i18n } = useTranslation();
  const { queue, database, workers, count_limit: limit } = state;
  const count = (value: number) =>
    value >= limit
      ? t('system.atLeast', { limit: limit.toLocaleString(i18n.language) })
      : value.toLocaleString(i18n.language);
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, md: 5 }} spacing="md">
      <Figure
        label={t('executions.status.queued')}
        value={count(queue.queued)}
        note={
          queue.oldest_queued_at !== null && (
            <>
              {t('system.oldest')}: <Moment at={queue.oldest_queued_at} />
            </>
          )
        }
      />
      <Figure label={t('executions.status.running')} value={count(queue.running)} />
      <Figure label={t('executions.status.waiting_async')} value={count(queue.waiting)} />
      <Figure
        label={t('system.workersAlive')}
        value={count(workers.filter((worker) => worker.state === 'alive').length)}
      />
      <Figure
        label={t('system.databaseSize')}
        value={formatBytes(database.bytes, i18n.language)}
        note={
          <>
            {database.earlier !== null && <Growth now={database.bytes} earlier={database.earlier} />}
            <div>{t('system.roundTrip', { ms: database.round_trip_ms.toLocaleString(i18n.language) })}</div>
          </>
        }
      />
    </SimpleGrid>
  );
}

/** Database growth since the first sample of the last 24 hours. */
function Growth({ now, earlier }: { now: number; earlier: NonNullable<SystemState['database']['earlier']> }) {
  const { i18n } = useTranslation();
  const bytes = now - earlier.bytes;
  const size = formatBytes(Math.abs(bytes), i18n.language);
  return (
    <div>
      <Trans
        i18nKey={bytes < 0 ? 'system.shrunk' : 'system.grown'}
        values={{ size }}
        components={{ moment: <Moment at={earlier.at} /> }}
      />
    </div>
  );
}

function Figure({ label, value, note }: { label: string; value: string; note?: ReactNode }) {
  return (
    <Box pl="sm" style={{ borderLeft: '2px solid var(--mantine-color-default-border)' }}>
      <Hint>{label}</Hint>
      <Text fw={600} fz="lg" style={{ fontVariantNumeric: 'tabular-nums' }}>
        {value}
      </Text>
      {note !== undefined && note !== false && <Hint component="div">{note}</Hint>}
    </Box>
  );
}

const HEALTH_STYLES: {
  readonly [State in HealthState]: { readonly icon: LucideIcon; readonly color: string };
} = {
  ok: { icon: CircleCheck, color: 'var(--mantine-color-green-text)' },
  warning: { icon: TriangleAlert, color: 'var(--mantine-color-orange-text)' },
  failed: { icon: CircleX, color: 'var(--mantine-color-red-text)' },
};

function Health({ state: { health, workers } }: { state: SystemState }) {
  const { t, i18n } = useTranslation();
  const silent = workers.filter(({ state }) => state === 'silent');
  const hosts = new Intl.ListFormat(i18n.language).format(
    silent.map(({ host, pid }) => `${host} (${t('system.process')} ${pid})`),
  );
  return (
    <Stack gap="xs">
      <Title order={2}>{t('system.health')}</Title>
      <Stack gap={4} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {health.map(({ check, state }) => {
          const { icon: Icon, color } = HEALTH_STYLES[state];
          return (
            <Group key={check} component="li" gap="xs" wrap="nowrap" align="flex-start">
              <Icon size={16} color={color} aria-hidden style={{ flexShrink: 0, marginTop: 2 }} />
              <Text size="sm" fw={state === 'ok' ? 400 : 600} style={{ overflowWrap: 'anywhere' }}>
                <VisuallyHidden>{t(`system.state.${state}`)}: </VisuallyHidden>
                {t(`system.check.${check}.${state}`, { hosts, interpolation: { escapeValue: false } })}
              </Text>
            </Group>
          );
        })}
      </Stack>
    </Stack>
  );
}

/** Active and recently stopped workers, as a table, or as a list in a narrow window. */
function WorkerTable({ items }: { items: readonly WorkerItem[] }) {
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
