import { ActionIcon, Group, Stack, Text, TextInput, Tooltip } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import type { Account } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useMe } from '@millrace/ui/api/me.ts';
import { usePages } from '@millrace/ui/api/pages.ts';
import { ConfirmDialog } from '@millrace/ui/components/confirm.tsx';
import { DataTable } from '@millrace/ui/components/data-table.tsx';
import { MoreButton } from '@millrace/ui/components/more-button.tsx';
import { notifyDone } from '@millrace/ui/components/notify.ts';
import { Page } from '@millrace/ui/components/page.tsx';
import { EmptyState, ErrorState, LoadingRows } from '@millrace/ui/components/states.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Search, SearchX, UserX } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { readAccountsSearch } from './people-search.ts';
import { LastSeen, Person } from './person.tsx';
import { notifyRefusal } from './problems.ts';

const PAGE_SIZE = 50;
const TYPING_PAUSE_MS = 250;
/** Organisations of one person that fit into a cell. */
const SHOWN_ORGANISATIONS = 2;

/** Everybody who can sign in, for who administers the service. */
export function AccountsPage() {
  const { t } = useTranslation();
  const { search = '' } = readAccountsSearch(useSearch({ strict: false }));
  const list = usePages(
    'GET /users',
    { query: { limit: PAGE_SIZE, ...(search === '' ? {} : { search }) } },
    { keepsFormer: true },
  );
  return (
    <Page title={t('people.accounts')} description={t('people.accountsHint')}>
      <SearchField search={search} />
      {list.isPending && <LoadingRows />}
      {list.isError && <ErrorState error={list.error} onRetry={list.refetch} />}
      {list.isSuccess && list.items.length === 0 && (
        <EmptyState icon={SearchX} title={t('people.noAccountFound')}>
          {t('people.noAccountFoundHint')}
        </EmptyState>
      )}
      {list.items.length > 0 && <AccountTable items={list.items} />}
      <MoreButton list={list} />
    </Page>
  );
}

function SearchField({ search }: { search: string }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [text, setText] = useState(search);
  const apply = useDebouncedCallback(
    (value: string) =>
      navigate({ to: '.', search: value.trim() === '' ? {} : { search: value }, replace: true }),
    TYPING_PAUSE_MS,
  );
  return (
    <Group role="search">
      <TextInput
        flex={1}
        maw={360}
        aria-label={t('people.searchAccounts')}
        placeholder={t('people.searchAccounts')}
        leftSection={<Search size={14} aria-hidden />}
        maxLength={254}
        value={text}
        onChange={({ currentTarget: { value } }) => {
          setText(value);
          apply(value);
        }}
      />
    </Group>
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
          <Group gap={4}>
            <Text size="xs" c="dimmed">
              {t('people.lastSeen')}
            </Text>
            <LastSeen at={account.last_seen_at} />
          </Group>
        </>
      )}
    />
  );
}

/** The first organisations with the role in each; all of them on hover. */
function Organisations({ account: { organisations } }: { account: Account }) {
  const { t } = useTranslation();
  if (organisations.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t('people.inNoOrganisation')}
      </Text>
    );
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
          <Text size="xs" c="dimmed" style={{ flexShrink: 0 }}>
            {role}
          </Text>
        </Group>
      ))}
      {more > 0 && (
        <Tooltip
          multiline
          maw={360}
          label={<span style={{ whiteSpace: 'pre-line' }}>{lines.map(({ text }) => text).join('\n')}</span>}
        >
          <Text size="xs" c="dimmed" tabIndex={0} w="fit-content">
            {t('people.moreOrganisations', { count: more })}
          </Text>
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
  const remove = useMutation({
    mutationFn: () => call('DELETE /users/:user', { params: { user: id } }),
    onSuccess: async () => {
      notifyDone(t('people.accountRemoved', { email }));
      if (!isMe) return queryClient.invalidateQueries({ queryKey: ['GET /users'] });
      queryClient.clear();
      return navigate({ to: '/sign-in' });
    },
    onError: notifyRefusal,
    onSettled: () => setIsAsking(false),
  });
  return (
    <>
      <Tooltip label={t('people.removeAccount')}>
        <ActionIcon aria-label={t('people.removeAccountNamed', { email })} onClick={() => setIsAsking(true)}>
          <UserX size={16} />
        </ActionIcon>
      </Tooltip>
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
