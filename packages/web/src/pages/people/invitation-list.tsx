import { ActionIcon, Badge, Button, Group, Stack, Table, Text, Tooltip } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { Invitation } from '@millrace/admin-api';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { Ban, MailPlus } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { useOrg } from '../../api/me.ts';
import { notifyDone } from '../../ui/notify.ts';
import { EmptyState, ErrorState, LoadingRows } from '../../ui/states.tsx';
import { Moment } from '../../ui/time.tsx';
import { MoreButton } from './more-button.tsx';
import { notifyRefusal } from './problems.ts';

const PAGE_SIZE = 50;

/** Invitations that are open, and what became of the others. */
export function InvitationList({ onInvite }: { readonly onInvite: () => void }) {
  const { t } = useTranslation();
  const org = useOrg();
  const isNarrow = useMediaQuery('(max-width: 48em)', false);
  const list = useInfiniteQuery({
    queryKey: ['GET /orgs/:org/invitations', { org }],
    queryFn: ({ pageParam, signal }) =>
      call('GET /orgs/:org/invitations', {
        params: { org },
        query: { limit: PAGE_SIZE, ...(pageParam === null ? {} : { cursor: pageParam }) },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  if (list.isPending) return <LoadingRows rows={4} />;
  if (list.isError) return <ErrorState error={list.error} onRetry={list.refetch} />;
  const items = list.data.pages.flatMap((page) => page.items);
  if (items.length === 0) {
    return (
      <EmptyState
        icon={MailPlus}
        title={t('people.noInvitations')}
        action={<Button onClick={onInvite}>{t('people.invite')}</Button>}
      >
        {t('people.noInvitationsHint')}
      </EmptyState>
    );
  }
  return (
    <>
      {isNarrow ? (
        <Stack gap={0} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
          {items.map((item) => (
            <NarrowRow key={item.id} item={item} />
          ))}
        </Stack>
      ) : (
        <WideTable items={items} />
      )}
      <MoreButton list={list} />
    </>
  );
}

function WideTable({ items }: { readonly items: readonly Invitation[] }) {
  const { t } = useTranslation();
  return (
    <Table highlightOnHover verticalSpacing={6} layout="fixed">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('people.for')}</Table.Th>
          <Table.Th w={170}>{t('people.role')}</Table.Th>
          <Table.Th w={110}>{t('people.state')}</Table.Th>
          <Table.Th>{t('people.invitedBy')}</Table.Th>
          <Table.Th w={130}>{t('people.made')}</Table.Th>
          <Table.Th w={130}>{t('people.until')}</Table.Th>
          <Table.Th w={52} aria-label={t('common.actions')} />
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {items.map((item) => (
          <Table.Tr key={item.id}>
            <Table.Td>
              <Addressee item={item} />
            </Table.Td>
            <Table.Td>{t(`shell.role.${item.role}`)}</Table.Td>
            <Table.Td>
              <StateBadge state={item.state} />
            </Table.Td>
            <Table.Td>
              <Text size="sm" truncate title={item.invited_by ?? ''}>
                {item.invited_by ?? '-'}
              </Text>
            </Table.Td>
            <Table.Td>
              <Moment at={item.created_at} />
            </Table.Td>
            <Table.Td>
              <Moment at={item.expires_at} />
            </Table.Td>
            <Table.Td>
              <RevokeButton item={item} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function NarrowRow({ item }: { readonly item: Invitation }) {
  const { t } = useTranslation();
  return (
    <Stack
      component="li"
      gap={4}
      py="sm"
      style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}
    >
      <Group justify="space-between" wrap="nowrap" mih={28}>
        <Addressee item={item} />
        <RevokeButton item={item} />
      </Group>
      <Group gap="xs" justify="space-between">
        <Text size="sm">{t(`shell.role.${item.role}`)}</Text>
        <StateBadge state={item.state} />
        <Moment at={item.created_at} />
      </Group>
    </Stack>
  );
}

function Addressee({ item: { email } }: { readonly item: Invitation }) {
  const { t } = useTranslation();
  return (
    <Text size="sm" truncate title={email ?? ''} {...(email === null ? { c: 'dimmed' } : {})}>
      {email ?? t('people.anybody')}
    </Text>
  );
}

const STATE_COLORS = { open: 'teal', accepted: 'blue', revoked: 'gray', expired: 'gray' } as const;

function StateBadge({ state }: { readonly state: Invitation['state'] }) {
  const { t } = useTranslation();
  return <Badge color={STATE_COLORS[state]}>{t(`people.stateName.${state}`)}</Badge>;
}

function RevokeButton({ item }: { readonly item: Invitation }) {
  const { t } = useTranslation();
  const org = useOrg();
  const queryClient = useQueryClient();
  const revoke = useMutation({
    mutationFn: () =>
      call('DELETE /orgs/:org/invitations/:invitation', { params: { org, invitation: item.id } }),
    onSuccess: () => notifyDone(t('people.revoked')),
    onError: notifyRefusal,
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['GET /orgs/:org/invitations'] }),
  });
  if (item.state !== 'open') return null;
  return (
    <Tooltip label={t('people.revoke')}>
      <ActionIcon
        aria-label={t('people.revokeNamed', { email: item.email ?? t('people.anybody') })}
        loading={revoke.isPending}
        onClick={() => revoke.mutate()}
      >
        <Ban size={16} />
      </ActionIcon>
    </Tooltip>
  );
}
