import { Badge, Button, Group, Text } from '@mantine/core';
import type { Invitation } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { usePages } from '@millrace/ui/api/pages.ts';
import { DataTable } from '@millrace/ui/components/data-table.tsx';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { PagedList } from '@millrace/ui/components/paged-list.tsx';
import { EmptyState } from '@millrace/ui/components/states.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useQueryClient } from '@tanstack/react-query';
import { Ban, MailPlus } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { notifyRefusal } from './problems.ts';

const PAGE_SIZE = 50;

/** Open and past invitations. */
export function InvitationList({ onInvite }: { onInvite: () => void }) {
  const { t } = useTranslation();
  const org = useOrg();
  const list = usePages('GET /orgs/:org/invitations', { params: { org }, query: { limit: PAGE_SIZE } });
  return (
    <PagedList
      list={list}
      rows={4}
      empty={
        <EmptyState
          icon={MailPlus}
          title={t('people.noInvitations')}
          action={<Button onClick={onInvite}>{t('people.invite')}</Button>}
        >
          {t('people.noInvitationsHint')}
        </EmptyState>
      }
    >
      {(items) => (
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
      )}
    </PagedList>
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
      {email ?? t('people.anyone')}
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

/** The invitation's state, and since when. */
function State({ item: { state, ended_at: endedAt } }: { item: Invitation }) {
  const { t } = useTranslation();
  return (
    <Group gap={6}>
      <Badge color={STATE_COLORS[state]}>{t(`people.stateName.${state}`)}</Badge>
      {endedAt !== null && <Moment at={endedAt} />}
    </Group>
  );
}

/** Empty for invitations that ended otherwise. */
function Until({ item: { state, expires_at: expiresAt } }: { item: Invitation }) {
  return state === 'open' || state === 'expired' ? <Moment at={expiresAt} /> : <>-</>;
}

function RevokeButton({ item }: { item: Invitation }) {
  const { t } = useTranslation();
  const org = useOrg();
  const queryClient = useQueryClient();
  const revoke = useChange(
    () => call('DELETE /orgs/:org/invitations/:invitation', { params: { org, invitation: item.id } }),
    {
      done: t('people.revoked'),
      onError: notifyRefusal,
      onSettled: () => queryClient.invalidateQueries({ queryKey: ['GET /orgs/:org/invitations'] }),
    },
  );
  if (item.state !== 'open') return null;
  return (
    <IconButton
      icon={Ban}
      label={t('people.revokeNamed', { email: item.email ?? t('people.anyone') })}
      hint={t('people.revoke')}
      loading={revoke.isPending}
      onClick={() => revoke.mutate()}
    />
  );
}
