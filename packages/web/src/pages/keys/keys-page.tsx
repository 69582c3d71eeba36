import '@millrace/ui/i18n/parts/keys.ts';
import { Alert, Button, Group, Switch } from '@mantine/core';
import { useOrg, useRole } from '@millrace/ui/api/me.ts';
import { usePages } from '@millrace/ui/api/pages.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { Page } from '@millrace/ui/components/page.tsx';
import { PagedList } from '@millrace/ui/components/paged-list.tsx';
import { EmptyState } from '@millrace/ui/components/states.tsx';
import { useQuery } from '@tanstack/react-query';
import { KeyRound, Plus, RotateCcwKey } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { IssueDialog } from './issue-dialog.tsx';
import { KeyTable } from './key-table.tsx';
import { type IssuedSecret, SecretDialog } from './secret-dialog.tsx';

const PAGE_SIZE = 50;
/** Last uses and overlaps change while the page is open. */
const REFRESH_MS = 30_000;

/** API keys of other systems for the public API. */
export function KeysPage() {
  const { t } = useTranslation();
  const [wantsEnded, setWantsEnded] = useState(false);
  const [isIssuing, setIsIssuing] = useState(false);
  const [secret, setSecret] = useState<IssuedSecret | null>(null);
  const list = usePages(
    'GET /orgs/:org/keys',
    { params: { org: useOrg() }, query: { limit: PAGE_SIZE, ended: wantsEnded } },
    { refetchInterval: REFRESH_MS, keepsPrevious: true },
  );
  const { can } = useRole();
  const issue = can('org_admin') && (
    <Button leftSection={<Plus size={14} aria-hidden />} onClick={() => setIsIssuing(true)}>
      {t('keys.issue')}
    </Button>
  );
  return (
    <Page title={t('keys.title')} description={t('keys.about')} actions={issue}>
      {list.isSuccess && (
        <>
          <DueBanner />
          <Switch
            size="xs"
            label={t('keys.showEnded')}
            checked={wantsEnded}
            onChange={(event) => setWantsEnded(event.currentTarget.checked)}
          />
        </>
      )}
      <PagedList
        list={list}
        empty={
          <EmptyState icon={KeyRound} title={t('keys.empty')} action={issue}>
            {t('keys.emptyHint')}
          </EmptyState>
        }
      >
        {(items) => <KeyTable items={items} onIssued={setSecret} />}
      </PagedList>
      {isIssuing && (
        <IssueDialog
          onClose={() => setIsIssuing(false)}
          onIssued={(issued) => {
            setIsIssuing(false);
            setSecret(issued);
          }}
        />
      )}
      {secret !== null && <SecretDialog issued={secret} onClose={() => setSecret(null)} />}
    </Page>
  );
}

/** Reminds of keys older than 90 days, wherever they are in the list. */
function DueBanner() {
  const { t } = useTranslation();
  const org = useOrg();
  const { data } = useQuery(endpointQuery('GET /orgs/:org/key-reminders', { params: { org } }));
  const items = data?.items ?? [];
  if (items.length === 0) return null;
  return (
    <Alert color="yellow" variant="light" icon={<RotateCcwKey size={16} aria-hidden />} py="xs">
      <Group gap={6}>
        {t('keys.dueBanner', { count: items.length })}
        <span style={{ overflowWrap: 'anywhere' }}>
          {items
            .slice(0, 5)
            .map(({ name }) => name)
            .join(t('common.listSeparator'))}
          {items.length > 5 && ' …'}
        </span>
      </Group>
    </Alert>
  );
}
