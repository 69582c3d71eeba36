import { Button, Group, Stack, Text } from '@mantine/core';
import type { Me } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { ConfirmDialog } from '@millrace/ui/components/form-dialog.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';

type Organisation = Me['organisations'][number];

/** The user's organisations, and a button to leave each. */
export function Memberships({ organisations }: { organisations: Me['organisations'] }) {
  const { t } = useTranslation();
  const own = organisations.filter(({ is_member: isMember }) => isMember);
  if (own.length === 0) return <Text size="sm">{t('account.noMembership')}</Text>;
  return (
    <Stack gap="xs">
      {own.map((organisation) => (
        <Membership key={organisation.id} organisation={organisation} />
      ))}
    </Stack>
  );
}

function Membership({ organisation: { id, name, role } }: { organisation: Organisation }) {
  const { t } = useTranslation();
  const queryClient = useQueryClient();
  const [isAsking, setIsAsking] = useState(false);
  const leave = useChange(() => call('POST /orgs/:org/leave', { params: { org: id } }), {
    done: t('account.left', { organisation: name }),
    // Drop everything fetched for that organisation.
    onSuccess: () => queryClient.resetQueries(),
    onSettled: () => setIsAsking(false),
  });
  return (
    <Group gap="xs" justify="space-between" wrap="nowrap">
      <Stack gap={0} miw={0}>
        <Text size="sm" truncate title={name}>
          {name}
        </Text>
        <Hint>{t(`shell.role.${role}`)}</Hint>
      </Stack>
      <Button
        variant="default"
        style={{ flexShrink: 0 }}
        aria-label={t('account.leaveNamed', { organisation: name })}
        onClick={() => setIsAsking(true)}
      >
        {t('account.leave')}
      </Button>
      <ConfirmDialog
        isOpen={isAsking}
        title={t('account.leaveTitle', { organisation: name })}
        action={t('account.leave')}
        isBusy={leave.isPending}
        onConfirm={() => leave.mutate()}
        onClose={() => setIsAsking(false)}
      >
        {t('account.leaveText')}
      </ConfirmDialog>
    </Group>
  );
}
