import { ActionIcon, Badge, Group, Select, Stack, Table, Text, Tooltip } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { isAtLeast, type Member, ROLES, type Role } from '@millrace/admin-api';
import { useInfiniteQuery } from '@tanstack/react-query';
import { ShieldCheck, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { useMe, useOrg, useRole } from '../../api/me.ts';
import { ConfirmDialog } from '../../ui/confirm.tsx';
import { ErrorState, LoadingRows } from '../../ui/states.tsx';
import { Moment } from '../../ui/time.tsx';
import { useMemberChanges } from './member-changes.ts';
import { MoreButton } from './more-button.tsx';

const PAGE_SIZE = 50;

/** The members, what they may do, and the ways to change that. */
export function MemberList() {
  const { t } = useTranslation();
  const org = useOrg();
  const isNarrow = useMediaQuery('(max-width: 48em)', false);
  const list = useInfiniteQuery({
    queryKey: ['GET /orgs/:org/members', { org }],
    queryFn: ({ pageParam, signal }) =>
      call('GET /orgs/:org/members', {
        params: { org },
        query: { limit: PAGE_SIZE, ...(pageParam === null ? {} : { cursor: pageParam }) },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  if (list.isPending) return <LoadingRows />;
  if (list.isError) return <ErrorState error={list.error} onRetry={list.refetch} />;
  const items = list.data.pages.flatMap((page) => page.items);
  return (
    <>
      {isNarrow ? (
        <Stack gap={0} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
          {items.map((member) => (
            <NarrowRow key={member.id} member={member} />
          ))}
        </Stack>
      ) : (
        <Table highlightOnHover verticalSpacing={6} layout="fixed">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('people.person')}</Table.Th>
              <Table.Th w={200}>{t('people.role')}</Table.Th>
              <Table.Th w={150}>{t('people.lastSeen')}</Table.Th>
              <Table.Th w={150}>{t('people.since')}</Table.Th>
              <Table.Th w={52} aria-label={t('common.actions')} />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {items.map((member) => (
              <Table.Tr key={member.id}>
                <Table.Td>
                  <Person member={member} />
                </Table.Td>
                <Table.Td>
                  <RoleField member={member} />
                </Table.Td>
                <Table.Td>
                  <LastSeen at={member.last_seen_at} />
                </Table.Td>
                <Table.Td>
                  <Moment at={member.created_at} />
                </Table.Td>
                <Table.Td>
                  <RemoveButton member={member} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <MoreButton list={list} />
    </>
  );
}

function NarrowRow({ member }: { readonly member: Member }) {
  return (
    <Stack
      component="li"
      gap={6}
      py="sm"
      style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}
    >
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Person member={member} />
        <RemoveButton member={member} />
      </Group>
      <Group justify="space-between" wrap="nowrap">
        <RoleField member={member} />
        <LastSeen at={member.last_seen_at} />
      </Group>
    </Stack>
  );
}

function Person({ member }: { readonly member: Member }) {
  const { t } = useTranslation();
  const isMe = useMe()?.user.email === member.email;
  return (
    <Stack gap={0} miw={0}>
      <Group gap={6} wrap="nowrap">
        <Text size="sm" fw={500} truncate title={member.name ?? member.email}>
          {member.name ?? member.email}
        </Text>
        {isMe && <Badge style={{ flexShrink: 0 }}>{t('people.you')}</Badge>}
        {member.name === null && (
          <Tooltip label={t('people.noAccountHint')} multiline maw={300}>
            <Badge color="gray" style={{ flexShrink: 0 }}>
              {t('people.noAccount')}
            </Badge>
          </Tooltip>
        )}
        {member.has_second_factor && (
          <Tooltip label={t('people.factorOn')}>
            <ShieldCheck
              size={14}
              role="img"
              aria-label={t('people.factorOn')}
              color="var(--mantine-primary-color-filled)"
              style={{ flexShrink: 0 }}
            />
          </Tooltip>
        )}
      </Group>
      {member.name !== null && (
        <Text size="xs" c="dimmed" truncate title={member.email}>
          {member.email}
        </Text>
      )}
    </Stack>
  );
}

function LastSeen({ at }: { readonly at: string | null }) {
  const { t } = useTranslation();
  if (at !== null) return <Moment at={at} />;
  return (
    <Text size="sm" c="dimmed">
      {t('people.never')}
    </Text>
  );
}

/** The role, to be changed by who has one as high. Giving away own rights is asked about: it cannot be taken back. */
function RoleField({ member }: { readonly member: Member }) {
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
    </>
  );
}

function RemoveButton({ member }: { readonly member: Member }) {
  const { t } = useTranslation();
  const { role: own } = useRole();
  const isMe = useMe()?.user.email === member.email;
  const [isAsking, setIsAsking] = useState(false);
  const { remove } = useMemberChanges(member);
  if (!isAtLeast(own, member.role)) return null;
  return (
    <>
      <Tooltip label={t('people.remove')}>
        <ActionIcon
          aria-label={t('people.removeNamed', { email: member.email })}
          onClick={() => setIsAsking(true)}
        >
          <Trash2 size={16} />
        </ActionIcon>
      </Tooltip>
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
