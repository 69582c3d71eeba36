import { Menu, Stack, Text } from '@mantine/core';
import type { ApiKey } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { ConfirmChange, FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { RowMenu } from '@millrace/ui/components/row-menu.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { Ban, LockKeyholeOpen, RotateCcwKey } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { KEY_LISTS } from './key-text.ts';
import type { IssuedSecret } from './secret-dialog.tsx';

type Dialog = 'rotate' | 'revoke' | 'unlock' | null;

interface ActionProps {
  item: ApiKey;
  onIssued: (issued: IssuedSecret) => void;
}

/** Actions on a key; none once it has ended. */
export function KeyActions({ item, onIssued }: ActionProps) {
  const { t } = useTranslation();
  const [dialog, setDialog] = useState<Dialog>(null);
  const close = () => setDialog(null);
  if (item.state === 'revoked' || item.state === 'expired') return null;
  return (
    <>
      <RowMenu label={t('keys.actionsNamed', { name: item.name })}>
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
      </RowMenu>
      {dialog === 'rotate' && <RotateDialog item={item} onIssued={onIssued} onClose={close} />}
      {dialog === 'revoke' && <RevokeDialog item={item} onClose={close} />}
      {dialog === 'unlock' && <UnlockDialog item={item} onClose={close} />}
    </>
  );
}

function RotateDialog({ item, onIssued, onClose }: ActionProps & { onClose: () => void }) {
  const { t } = useTranslation();
  const org = useOrg();
  const rotate = useChange(
    () => call('POST /orgs/:org/keys/:key/rotate', { params: { org, key: item.id } }),
    {
      refreshes: KEY_LISTS,
      onSuccess: ({ key, secret, api_url: apiUrl, predecessor }) => {
        onClose();
        onIssued({ key, secret, apiUrl, oldKeyUntil: predecessor.valid_until });
      },
    },
  );
  return (
    <FormDialog
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
  const params = { org: useOrg(), key: item.id };
  return (
    <ConfirmChange
      title={t('keys.revokeTitle', { name: item.name })}
      action={t('keys.revoke')}
      change={() => call('POST /orgs/:org/keys/:key/revoke', { params })}
      done={t('keys.revoked', { name: item.name })}
      refreshes={KEY_LISTS}
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
    </ConfirmChange>
  );
}

function UnlockDialog({ item, onClose }: { item: ApiKey; onClose: () => void }) {
  const { t } = useTranslation();
  const params = { org: useOrg(), key: item.id };
  const unlock = useChange(() => call('POST /orgs/:org/keys/:key/unlock', { params }), {
    done: t('keys.unlocked', { name: item.name }),
    refreshes: KEY_LISTS,
    onSuccess: onClose,
  });
  return (
    <FormDialog
      title={t('keys.unlockTitle', { name: item.name })}
      action={t('keys.unlock')}
      isBusy={unlock.isPending}
      onSubmit={() => unlock.mutate()}
      onClose={onClose}
    >
      <Text size="sm">{t('keys.unlockHint')}</Text>
    </FormDialog>
  );
}
