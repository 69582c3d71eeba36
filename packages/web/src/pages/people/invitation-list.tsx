import { ActionIcon, Badge, Button, Group, Text, Tooltip } from '@mantine/core';
import type { Invitation } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { usePages } from '@millrace/ui/api/pages.ts';
import { DataTable } from '@millrace/ui/components/data-table.tsx';
import { MoreButton } from '@millrace/ui/components/more-button.tsx';
import { notifyDone } from '@millrace/ui/components/notify.ts';
import { EmptyState, ErrorState, LoadingRows } from '@millrace/ui/components/states.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Ban, MailPlus } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { notifyRefusal } from './problems.ts';

const PAGE_SIZE = 50;

/** Invitations that are open, and what became of the others. */
export function InvitationList({ onInvite }: { onInvite: () => void }) {
  const { t } = useTranslation();
  const org = useOrg();
  const list = usePages('GET /orgs/:org/invitations', { params: { org }, query: { limit: PAGE_SIZE } });
  if (list.isPending) return <LoadingRows rows={4} />;
  if (list.isError) return <ErrorState error={list.error} onRetry={list.refetch} />;
  const { items } = list;
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
      <DataTable
        items={items}
        columns={[
          { head: t('people.for'), cell: (item) => <Addressee item={item} /> },
          { head: t('people.role'), width: 170, cell: ({ role }) => t(`shell.role.${role}`) },
          { head: t('people.state'), width: 170, cell: (item) => <State item={item} /> },
          { head: t('people.invitedBy'), cell: (item) => <Inviter item={item} /> },
          { head: t('people.made'), width: 130, cell: (item) => <Moment at={item.created_at} /> },
          { head: t('people.until'), width: 130, cell: (item) => <Until item={item} /> },
        ]}
        actions={(item) => <RevokeButton item={item} />}
        narrow={(item) => <NarrowRow item={item} />}
      />
      <MoreButton list={list} />
    </>
  );
}

function NarrowRow({ item }: { item: Invitation }) {
  const { t } = useTranslation();
  return (
    <>
      <Group justify="space-between" wrap="nowrap" mih={28}>
        <Addressee item={item} />
        <RevokeButton item={item} />
      </Group>
      <Group gap="xs" justify="space-between">
        <Text size="sm">{t(`shell.role.${item.role}`)}</Text>
        <State item={item} />
        {item.ended_at === null && <Moment at={item.created_at} />}
      </Group>
    </>
  );
}

function Addressee({ item: { email } }: { item: Invitation }) {
  const { t } = useTranslation();
  return (
    <Text size="sm" truncate title={email ?? ''} {...(email === null ? { c: 'dimmed' } : {})}>
      {email ?? t('people.anybody')}
    </Text>
  );
}

function Inviter({ item: { invited_by: email, is_by_operator: isByOperator } }: { item: Invitation }) {
  const { t } = useTranslation();
  return (
    <Text size="sm" truncate title={email ?? ''}>
      {email ?? (isByOperator ? t('people.operator') : '-')}
    </Text>
  );
}

const STATE_COLORS = { open: 'teal', accepted: 'blue', revoked: 'gray', expired: 'gray' } as const;

/** What became of it, and when. */
function State({ item: { state, ended_at: endedAt } }: { item: Invitation }) {
  const { t } = useTranslation();
  return (
    <Group gap={6}>
      <Badge color={STATE_COLORS[state]}>{t(`people.stateName.${state}`)}</Badge>
      {endedAt !== null && <Moment at={endedAt} />}
    </Group>
  );
}

/** Nothing for those that have ended otherwise. */
function Until({ item: { state, expires_at: expiresAt } }: { item: Invitation }) {
  return state === 'open' || state === 'expired' ? <Moment at={expiresAt} /> : <>-</>;
}

function RevokeButton({ item }: { item: Invitation }) {
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
