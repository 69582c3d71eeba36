import { Anchor, Badge, Group, Stack, Text } from '@mantine/core';
import type { AlertMessage } from '@millrace/admin-api';
import { useOrg } from '@millrace/ui/api/me.ts';
import { usePages } from '@millrace/ui/api/pages.ts';
import { DataTable } from '@millrace/ui/components/data-table.tsx';
import { PagedList } from '@millrace/ui/components/paged-list.tsx';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';

const PAGE_SIZE = 25;
const REFRESH_MS = 15_000;

/** What was sent, is about to be, or was given up. */
export function AlertHistory() {
  const { t } = useTranslation();
  const list = usePages(
    'GET /orgs/:org/alerts',
    { params: { org: useOrg() }, query: { limit: PAGE_SIZE } },
    { refetchInterval: REFRESH_MS, staleTime: 0 },
  );
  return (
    <PagedList list={list} rows={3} empty={<Muted>{t('alerts.nothingSent')}</Muted>}>
      {(items) => (
        <DataTable
          aria-label={t('alerts.history')}
          items={items}
          isTopAligned
          columns={[
            { head: t('alerts.time'), width: 140, cell: (item) => <Moment at={item.created_at} /> },
            { head: t('alerts.rule'), cell: (item) => <Rule item={item} /> },
            { head: t('alerts.about'), cell: (item) => <Incidents item={item} /> },
            { head: t('alerts.state'), width: 260, cell: (item) => <State item={item} /> },
          ]}
          narrow={(item) => (
            <>
              <Group justify="space-between" wrap="nowrap">
                <Rule item={item} />
                <Moment at={item.created_at} />
              </Group>
              <Incidents item={item} />
              <State item={item} />
            </>
          )}
        />
      )}
    </PagedList>
  );
}

function Rule({ item: { rule_name: name, channel } }: { item: AlertMessage }) {
  const { t } = useTranslation();
  return (
    <Stack gap={0} miw={0}>
      <Text size="sm" truncate title={name}>
        {name}
      </Text>
      <Hint>{t(`alerts.channels.${channel}`)}</Hint>
    </Stack>
  );
}

function Incidents({ item: { is_test: isTest, incidents, occurrences } }: { item: AlertMessage }) {
  const { t } = useTranslation();
  if (isTest) return <Muted>{t('alerts.isTest')}</Muted>;
  const shown = incidents.reduce((sum, incident) => sum + incident.occurrences, 0);
  return (
    <Stack gap={0} miw={0}>
      {incidents.map((incident) => (
        <Incident key={`${incident.name} ${incident.first_at}`} incident={incident} />
      ))}
      {shown < occurrences && <Hint>{t('alerts.more', { count: occurrences - shown })}</Hint>}
    </Stack>
  );
}

function Incident({ incident }: { incident: AlertMessage['incidents'][number] }) {
  const { t } = useTranslation();
  const org = useOrg();
  const { name, occurrences, execution_id: executionId } = incident;
  const text = occurrences === 1 ? name : t('alerts.times', { name, times: occurrences });
  if (executionId === null) return <Text size="sm">{text}</Text>;
  return (
    <Anchor component={Link} to={`/o/${org}/executions/${executionId}`} size="sm" truncate>
      {text}
    </Anchor>
  );
}

const COLORS = { pending: 'blue', sent: 'green', failed: 'red' } as const;

function State({ item }: { item: AlertMessage }) {
  const { t } = useTranslation();
  const { status, attempts, error, next_attempt_at: nextAt } = item;
  return (
    <Stack gap={2} miw={0}>
      <Group gap="xs">
        <Badge color={COLORS[status]} variant="light">
          {t(`alerts.states.${status}`)}
        </Badge>
        {attempts > 1 && <Hint>{t('common.attempts', { count: attempts })}</Hint>}
      </Group>
      {error !== null && status !== 'sent' && (
        <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
          {translateMessage(error)}
        </Text>
      )}
      {nextAt !== null && attempts > 0 && (
        <Hint>
          {t('alerts.nextAttempt')} <Moment at={nextAt} />
        </Hint>
      )}
    </Stack>
  );
}
