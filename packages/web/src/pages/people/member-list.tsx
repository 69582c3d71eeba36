import { Group, Select, Text } from '@mantine/core';
import { isAtLeast, type Member, ROLES, type Role } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useMe, useOrg, useRole } from '@millrace/ui/api/me.ts';
import { usePages } from '@millrace/ui/api/pages.ts';
import { DataTable } from '@millrace/ui/components/data-table.tsx';
import { ConfirmDialog } from '@millrace/ui/components/form-dialog.tsx';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { notifyDone } from '@millrace/ui/components/notify.ts';
import { PagedList } from '@millrace/ui/components/paged-list.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { LinkDialog } from './link-dialog.tsx';
import { LastSeen, NamedLastSeen, Person } from './person.tsx';
import { notifyRefusal } from './problems.ts';

const PAGE_SIZE = 50;

/** The members with their roles and actions. */
export function MemberList() {
  const { t } = useTranslation();
  const org = useOrg();
  const list = usePages('GET /orgs/:org/members', { params: { org }, query: { limit: PAGE_SIZE } });
  return (
    <PagedList list={list}>
      {(items) => (
        <DataTable
          items={items}
          columns={[
            { head: t('people.person'), cell: (member) => <Person person={member} /> },
            { head: t('people.role'), width: 200, cell: (member) => <RoleField member={member} /> },
            {
              head: t('people.lastSeen'),
              width: 150,
              cell: (member) => <LastSeen at={member.last_seen_at} />,
            },
            { head: t('people.since'), width: 150, cell: (member) => <Moment at={member.created_at} /> },
          ]}
          actions={(member) => <RemoveButton member={member} />}
          narrow={(member) => <NarrowRow member={member} />}
        />
      )}
    </PagedList>
  );
}

function NarrowRow({ member }: { member: Member }) {
  return (
    <>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Person person={member} />
        <RemoveButton member={member} />
      </Group>
      <Group justify="space-between" wrap="nowrap">
        <RoleField member={member} />
        <NamedLastSeen at={member.last_seen_at} />
      </Group>
    </>
  );
}

/** A role, editable by members with at least that role. Lowering one's own is confirmed, as it can't be undone. */
function RoleField({ member }: { member: Member }) {
  const { t } = useTranslation();
  const { role: own } = useRole();
  const isMe = useMe()?.user.email === member.email;
  const [wanted, setWanted] = useState<Role | null>(null);
  const { setRole } = useMemberChanges(member);
  if (!isAtLeast(own, member.role)) return <Text size="sm">{t(`shell.role.${member.role}`)}</Text>;
  const choose = (role: Role) => {
    if (isMe && !isAtLeast(role, own)) setWanted(role);
    else if (role !== member.role) setRole.mutate(role);
  };
  return (
    <>
      <Select
        aria-label={t('people.roleOf', { email: member.email })}
        data={ROLES.filter((role) => isAtLeast(own, role)).map((value) => ({
          value,
          label: t(`shell.role.${value}`),
        }))}
        value={member.role}
        onChange={(value) => value !== null && choose(value as Role)}
        allowDeselect={false}
        disabled={setRole.isPending}
        maw={190}
      />
      <ConfirmDialog
        isOpen={wanted !== null}
        title={t('people.lowerSelfTitle')}
        action={t('people.lowerSelf')}
        isBusy={setRole.isPending}
        onConfirm={() => {
          if (wanted !== null) setRole.mutate(wanted);
          setWanted(null);
        }}
        onClose={() => setWanted(null)}
      >
        {t('people.lowerSelfText', { role: t(`shell.role.${wanted ?? 'viewer'}`) })}
      </ConfirmDialog>
      {setRole.data?.invitation_url != null && (
        <LinkDialog
          url={setRole.data.invitation_url}
          text={t('people.roleWaits', { email: member.email })}
          onClose={setRole.reset}
        />
      )}
    </>
  );
}

function RemoveButton({ member }: { member: Member }) {
  const { t } = useTranslation();
  const { role: own } = useRole();
  const isMe = useMe()?.user.email === member.email;
  const [isAsking, setIsAsking] = useState(false);
  const { remove } = useMemberChanges(member);
  if (!isAtLeast(own, member.role)) return null;
  return (
    <>
      <IconButton
        icon={Trash2}
        label={t('people.removeNamed', { email: member.email })}
        hint={t('people.remove')}
        onClick={() => setIsAsking(true)}
      />
      <ConfirmDialog
        isOpen={isAsking}
        title={t('people.removeTitle', { email: member.email })}
        action={t('people.remove')}
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate(undefined, { onSettled: () => setIsAsking(false) })}
        onClose={() => setIsAsking(false)}
      >
        {isMe ? t('people.removeSelf') : t('people.removeText')}
      </ConfirmDialog>
    </>
  );
}

/** Actions on a member; each refetches the list. */
function useMemberChanges(member: Member) {
  const { t } = useTranslation();
  const org = useOrg();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const isMe = useMe()?.user.email === member.email;
  const params = { org, member: member.id };
  return {
    setRole: useChange((role: Role) => call('PATCH /orgs/:org/members/:member', { params, body: { role } }), {
      refreshes: [
        ...(isMe ? (['GET /me'] as const) : []),
        'GET /orgs/:org/members',
        'GET /orgs/:org/invitations',
      ],
      onSuccess: ({ member: { email, role }, invitation_url: url }) => {
        // Otherwise the role change becomes an invitation, whose link is shown.
        if (url === null) notifyDone(t('people.roleChanged', { email, role: t(`shell.role.${role}`) }));
      },
      onError: notifyRefusal,
    }),
    remove: useChange(() => call('DELETE /orgs/:org/members/:member', { params }), {
      done: t('people.removed', { email: member.email }),
      refreshes: isMe ? [] : ['GET /orgs/:org/members'],
      onSuccess: () => {
        if (!isMe) return;
        queryClient.clear();
        return navigate({ to: '/' });
      },
      onError: notifyRefusal,
    }),
  };
}
