import { Button } from '@mantine/core';
import { useOrg, useRole } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { Page } from '@millrace/ui/components/page.tsx';
import { QueryState } from '@millrace/ui/components/paged-list.tsx';
import { EmptyState } from '@millrace/ui/components/states.tsx';
import { useQuery } from '@tanstack/react-query';
import { LockKeyhole, Plus } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CredentialDialog } from './credential-dialog.tsx';
import { CredentialTable } from './credential-table.tsx';

/** What workflows sign in elsewhere with. */
export function CredentialsPage() {
  const { t } = useTranslation();
  const org = useOrg();
  const [isAdding, setIsAdding] = useState(false);
  const list = useQuery(endpointQuery('GET /orgs/:org/credentials', { params: { org } }));
  const { can } = useRole();
  const add = can('editor') && (
    <Button leftSection={<Plus size={14} aria-hidden />} onClick={() => setIsAdding(true)}>
      {t('credentials.add')}
    </Button>
  );
  return (
    <Page title={t('credentials.title')} description={t('credentials.about')} actions={add}>
      <QueryState query={list} />
      {list.isSuccess && list.data.items.length === 0 && (
        <EmptyState icon={LockKeyhole} title={t('credentials.empty')} action={add}>
          {t('credentials.emptyHint')}
        </EmptyState>
      )}
      {list.isSuccess && list.data.items.length > 0 && <CredentialTable items={list.data.items} />}
      {isAdding && <CredentialDialog credential={null} onClose={() => setIsAdding(false)} />}
    </Page>
  );
}
