import '@millrace/ui/i18n/parts/people.ts';
import { Group, Stack, Text, Tooltip } from '@mantine/core';
import type { Account } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useMe } from '@millrace/ui/api/me.ts';
import { usePages } from '@millrace/ui/api/pages.ts';
import { useFilters } from '@millrace/ui/api/search-params.ts';
import { DataTable } from '@millrace/ui/components/data-table.tsx';
import { FilterInput } from '@millrace/ui/components/filter-input.tsx';
import { ConfirmDialog } from '@millrace/ui/components/form-dialog.tsx';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { Page } from '@millrace/ui/components/page.tsx';
import { PagedList } from '@millrace/ui/components/paged-list.tsx';
import { EmptyState } from '@millrace/ui/components/states.tsx';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Search, SearchX, UserX } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { readAccountsSearch } from './people-search.ts';
import { LastSeen, NamedLastSeen, Person } from './person.tsx';
import { notifyRefusal } from './problems.ts';

const PAGE_SIZE = 50;
/** Maximum organisations shown per account. */
const SHOWN_ORGANISATIONS = 2;

/** All accounts, for service administrators. */
export function AccountsPage() {
  const { t } = useTranslation();
  const [{ search = '' }, apply] = useFilters(readAccountsSearch);
  const list = usePages(
    'GET /users',
    { query: { limit: PAGE_SIZE, ...(search === '' ? {} : { search }) } },
    { keepsPrevious: true },
  );
  return (
    <Page title={t('people.accounts')} description={t('people.accountsHint')}>
      <Group role="search">
        <FilterInput
          flex={1}
          maw={360}
          aria-label={t('people.searchAccounts')}
          placeholder={t('people.searchAccounts')}
          leftSection={<Search size={14} aria-hidden />}
          maxLength={254}
          value={search}
          onApply={(text) => apply({ search: text })}
        />
      </Group>
      <PagedList
        list={list}
        empty={
          <EmptyState icon={SearchX} title={t('people.noAccountFound')}>
            {t('people.noAccountFoundHint')}
          </EmptyState>
        }
      >
        {(items) => <AccountTable items={items} />}
      </PagedList>
    </Page>
  );
}

function AccountTable({ items }: { items: readonly Account[] }) {
  const { t } = useTranslation();
  return (
    <DataTable
      items={items}
      columns={[
        { head: t('people.person'), cell: (account) => <Person person={account} /> },
        { head: t('people.organisations'), cell: (account) => <Organisations account={account} /> },
        { head: t('people.lastSeen'), width: 130, cell: (account) => <LastSeen at={account.last_seen_at} /> },
        { head: t('people.accountSince'), width: 130, cell: (account) => <Moment at={account.created_at} /> },
      ]}
      actions={(account) => <RemoveButton account={account} />}
      narrow={(account) => (
        <>
          <Group justify="space-between" wrap="nowrap" align="flex-start">
            <Person person={account} />
            <RemoveButton account={account} />
          </Group>
          <Organisations account={account} />
          <NamedLastSeen at={account.last_seen_at} />
        </>
      )}
    />
  );
}

/** The first organisations with the account's role; all of them on hover. */
function Organisations({ account: { organisations } }: { account: Account }) {
  const { t } = useTranslation();
  if (organisations.length === 0) {
    return <Muted>{t('people.inNoOrganisation')}</Muted>;
  }
  const lines = organisations.map(({ id, name, role: given }) => {
    const role = t(`shell.role.${given}`);
    return { id, name, role, text: t('people.roleIn', { organisation: name, role }) };
  });
  const more = lines.length - SHOWN_ORGANISATIONS;
  return (
    <Stack gap={0} miw={0}>
      {lines.slice(0, SHOWN_ORGANISATIONS).map(({ id, name, role, text }) => (
        <Group key={id} gap={6} wrap="nowrap" title={text}>
          <Text size="sm" truncate>
            {name}
          </Text>
          <Hint style={{ flexShrink: 0 }}>{role}</Hint>
        </Group>
      ))}
      {more > 0 && (
        <Tooltip
          multiline
          maw={360}
          label={<span style={{ whiteSpace: 'pre-line' }}>{lines.map(({ text }) => text).join('\n')}</span>}
        >
          <Hint tabIndex={0} w="fit-content">
            {t('people.moreOrganisations', { count: more })}
          </Hint>
        </Tooltip>
      )}
    </Stack>
  );
}

function RemoveButton({ account: { id, email } }: { account: Account }) {
  const { t } = useTranslation();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const isMe = useMe()?.user.id === id;
  const [isAsking, setIsAsking] = useState(false);
  const remove = useChange(() => call('DELETE /users/:user', { params: { user: id } }), {
    done: t('people.accountRemoved', { email }),
    refreshes: isMe ? [] : ['GET /users'],
    onSuccess: () => {
      if (!isMe) return;
      queryClient.clear();
      return navigate({ to: '/sign-in' });
    },
    onError: notifyRefusal,
    onSettled: () => setIsAsking(false),
  });
  return (
    <>
      <IconButton
        icon={UserX}
        label={t('people.removeAccountNamed', { email })}
        hint={t('people.removeAccount')}
        onClick={() => setIsAsking(true)}
      />
      <ConfirmDialog
        isOpen={isAsking}
        title={t('people.removeAccountTitle')}
        action={t('people.removeAccount')}
        typed={email}
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate()}
        onClose={() => setIsAsking(false)}
      >
        {t(isMe ? 'people.removeAccountSelf' : 'people.removeAccountText', { email })}
      </ConfirmDialog>
    </>
  );
}
