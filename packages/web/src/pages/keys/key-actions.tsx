import { ActionIcon, Menu, Stack, Text } from '@mantine/core';
import type { ApiKey } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { ConfirmDialog } from '@millrace/ui/components/confirm.tsx';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { notifyFailure } from '@millrace/ui/components/notify.ts';
import { useMutation } from '@tanstack/react-query';
import { Ban, EllipsisVertical, LockKeyholeOpen, RotateCcwKey } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useKeyChanges, useRefreshKeys } from './key-changes.ts';
import type { IssuedSecret } from './secret-dialog.tsx';

type Dialog = 'rotate' | 'revoke' | 'unlock' | null;

interface ActionProps {
  item: ApiKey;
  onIssued: (issued: IssuedSecret) => void;
}

/** What can be done with a key; nothing with one that has ended. */
export function KeyActions({ item, onIssued }: ActionProps) {
  const { t } = useTranslation();
  const [dialog, setDialog] = useState<Dialog>(null);
  const close = () => setDialog(null);
  if (item.state === 'revoked' || item.state === 'expired') return null;
  return (
    <>
      <Menu position="bottom-end" width={180}>
        <Menu.Target>
          <ActionIcon aria-label={t('keys.actionsNamed', { name: item.name })}>
            <EllipsisVertical size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {item.state === 'locked' && (
            <Menu.Item leftSection={<LockKeyholeOpen size={14} />} onClick={() => setDialog('unlock')}>
              {t('keys.unlock')}
            </Menu.Item>
          )}
          {item.rotated_at === null && (
            <Menu.Item leftSection={<RotateCcwKey size={14} />} onClick={() => setDialog('rotate')}>
              {t('keys.rotate')}
            </Menu.Item>
          )}
          <Menu.Item color="red" leftSection={<Ban size={14} />} onClick={() => setDialog('revoke')}>
            {t('keys.revoke')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog === 'rotate' && <RotateDialog item={item} onIssued={onIssued} onClose={close} />}
      {dialog === 'revoke' && <RevokeDialog item={item} onClose={close} />}
      {dialog === 'unlock' && <UnlockDialog item={item} onClose={close} />}
    </>
  );
}

function RotateDialog({ item, onIssued, onClose }: ActionProps & { onClose: () => void }) {
  const { t } = useTranslation();
  const org = useOrg();
  const refresh = useRefreshKeys();
  const rotate = useMutation({
    mutationFn: () => call('POST /orgs/:org/keys/:key/rotate', { params: { org, key: item.id } }),
    // Before anything is read again: what is shown once must not depend on a row that may go.
    onSuccess: ({ key, secret, api_url: apiUrl, predecessor }) => {
      onClose();
      onIssued({ key, secret, apiUrl, oldKeyUntil: predecessor.valid_until });
      return refresh();
    },
    onError: notifyFailure,
  });
  return (
    <FormDialog
      isOpen
      title={t('keys.rotateTitle', { name: item.name })}
      action={t('keys.rotate')}
      isBusy={rotate.isPending}
      onSubmit={() => rotate.mutate()}
      onClose={onClose}
    >
      <Text size="sm">{t('keys.rotateHint')}</Text>
    </FormDialog>
  );
}

function RevokeDialog({ item, onClose }: { item: ApiKey; onClose: () => void }) {
  const { t, i18n } = useTranslation();
  const { revoke } = useKeyChanges(item);
  return (
    <ConfirmDialog
      isOpen
      title={t('keys.revokeTitle', { name: item.name })}
      action={t('keys.revoke')}
      isBusy={revoke.isPending}
      onConfirm={() => revoke.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <Stack gap={4}>
        <span>{t('keys.revokeHint')}</span>
        {item.last_used_at !== null && (
          <Text size="sm" fw={500}>
            {t('keys.revokeLastUse', { when: new Date(item.last_used_at).toLocaleString(i18n.language) })}{' '}
            {item.last_used_ip !== null && t('keys.from', { ip: item.last_used_ip })}
          </Text>
        )}
      </Stack>
    </ConfirmDialog>
  );
}

function UnlockDialog({ item, onClose }: { item: ApiKey; onClose: () => void }) {
  const { t } = useTranslation();
  const { unlock } = useKeyChanges(item);
  return (
    <FormDialog
      isOpen
      title={t('keys.unlockTitle', { name: item.name })}
      action={t('keys.unlock')}
      isBusy={unlock.isPending}
      onSubmit={() => unlock.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <Text size="sm">{t('keys.unlockHint')}</Text>
    </FormDialog>
  );
}
