import '@millrace/ui/i18n/parts/alerts.ts';
import '@millrace/ui/i18n/parts/settings.ts';
import { Button, Stack, Title } from '@mantine/core';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { Page } from '@millrace/ui/components/page.tsx';
import { QueryState } from '@millrace/ui/components/paged-list.tsx';
import { EmptyState } from '@millrace/ui/components/states.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useQuery } from '@tanstack/react-query';
import { BellRing, Plus } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { AlertHistory } from './alert-history.tsx';
import { RuleDialog } from './rule-dialog.tsx';
import { RuleTable } from './rule-table.tsx';

/** When the organisation is alerted, how, and what was sent. */
export function AlertsPage() {
  const { t } = useTranslation();
  const org = useOrg();
  const [isAdding, setIsAdding] = useState(false);
  const rules = useQuery({
    ...endpointQuery('GET /orgs/:org/alert-rules', { params: { org } }),
    staleTime: 0,
  });
  const isEmpty = rules.data?.items.length === 0;
  const isFull = rules.isSuccess && rules.data.items.length >= rules.data.limit;
  const add = (
    <Button
      leftSection={<Plus size={14} aria-hidden />}
      disabled={!rules.isSuccess || isFull}
      onClick={() => setIsAdding(true)}
    >
      {t('alerts.add')}
    </Button>
  );
  return (
    <Page title={t('alerts.title')} description={t('alerts.description')} actions={!isEmpty && add}>
      <QueryState query={rules} />
      {isEmpty && (
        <EmptyState icon={BellRing} title={t('alerts.empty')} action={add}>
          {t('alerts.emptyHint')}
        </EmptyState>
      )}
      {rules.isSuccess && rules.data.items.length > 0 && (
        <>
          <RuleTable items={rules.data.items} />
          {isFull && <Hint>{t('alerts.full', { count: rules.data.limit })}</Hint>}
        </>
      )}
      {rules.isSuccess && (
        <Stack gap="xs" mt="xl" component="section" aria-label={t('alerts.history')}>
          <Title order={2}>{t('alerts.history')}</Title>
          <Hint>{t('alerts.historyHint', { count: rules.data.messages_per_hour })}</Hint>
          <AlertHistory />
        </Stack>
      )}
      {isAdding && <RuleDialog rule={null} onClose={() => setIsAdding(false)} />}
    </Page>
  );
}
