import { Button, CopyButton, Group, Modal, Radio, Stack, Text, TextInput } from '@mantine/core';
import { isAtLeast, ROLES, type Role } from '@millrace/admin-api';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { useOrg, useRole } from '../../api/me.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { notifyRefusal, usualReason } from './problems.ts';

/** Makes an invitation, and shows its link this one time. */
export function InviteDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation();
  const org = useOrg();
  const { role: own } = useRole();
  const queryClient = useQueryClient();
  const [role, setRole] = useState<Role>('editor');
  const [email, setEmail] = useState('');
  const invite = useMutation({
    mutationFn: () =>
      call('POST /orgs/:org/invitations', {
        params: { org },
        body: { role, ...(email.trim() === '' ? {} : { email: email.trim() }) },
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['GET /orgs/:org/invitations'] }),
    onError: (error) => usualReason(error) === null && notifyRefusal(error),
  });
  if (invite.data !== undefined) return <LinkDialog url={invite.data.url} onClose={onClose} />;
  return (
    <FormDialog
      isOpen
      title={t('people.inviteTitle')}
      action={t('people.makeLink')}
      isBusy={invite.isPending}
      onSubmit={() => invite.mutate()}
      onClose={onClose}
    >
      <Radio.Group
        label={t('people.role')}
        value={role}
        onChange={(value) => setRole(value as Role)}
        size="xs"
      >
        <Stack gap={6} mt={4}>
          {ROLES.filter((each) => isAtLeast(own, each)).map((each) => (
            <Radio
              key={each}
              size="xs"
              value={each}
              label={t(`shell.role.${each}`)}
              description={t(`people.roleHint.${each}`)}
            />
          ))}
        </Stack>
      </Radio.Group>
      <TextInput
        data-autofocus
        type="email"
        label={t('people.inviteEmail')}
        description={t('people.inviteEmailHint')}
        autoComplete="off"
        maxLength={254}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        error={usualReason(invite.error)}
      />
    </FormDialog>
  );
}

function LinkDialog({ url, onClose }: { readonly url: string; readonly onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('people.linkTitle')}
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <Stack gap="sm">
        <Text size="sm">{t('people.linkText')}</Text>
        <TextInput
          readOnly
          aria-label={t('people.linkLabel')}
          value={url}
          onFocus={(event) => event.currentTarget.select()}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        />
        <Group justify="flex-end" gap="xs">
          <CopyButton value={url} timeout={3_000}>
            {({ copied, copy }) => (
              <Button
                data-autofocus
                leftSection={copied ? <Check size={14} /> : <Copy size={14} />}
                onClick={copy}
              >
                {copied ? t('common.copied') : t('people.copyLink')}
              </Button>
            )}
          </CopyButton>
          <Button variant="default" onClick={onClose}>
            {t('people.done')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
