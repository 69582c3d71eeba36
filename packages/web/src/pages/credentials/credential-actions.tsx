import { Anchor, Group, List, Menu, Modal, Stack, Text } from '@mantine/core';
import type { Credential } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg, useRole } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { ConfirmDialog } from '@millrace/ui/components/form-dialog.tsx';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { QueryState } from '@millrace/ui/components/paged-list.tsx';
import { RowMenu } from '@millrace/ui/components/row-menu.tsx';
import { Muted } from '@millrace/ui/components/text.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CalendarClock, ListTree, Pencil, PlugZap, Trash2, Unplug } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConnectDialog } from './connect-dialog.tsx';
import { CredentialDialog } from './credential-dialog.tsx';
import { ExpiryDialog } from './expiry-dialog.tsx';
import { TestDialog } from './test-dialog.tsx';

type Dialog = 'edit' | 'connect' | 'expiry' | 'test' | 'usage' | 'remove' | null;

export function CredentialActions({ item }: { item: Credential }) {
  const { t } = useTranslation();
  const [dialog, setDialog] = useState<Dialog>(null);
  const close = () => setDialog(null);
  return (
    <Group gap={2} wrap="nowrap" justify="flex-end">
      <IconButton
        icon={Pencil}
        label={t('credentials.editTitle', { name: item.name })}
        hint={t('common.edit')}
        onClick={() => setDialog('edit')}
      />
      {item.connection !== null && (
        <IconButton
          icon={Unplug}
          label={t('credentials.connection.title', { name: item.name })}
          hint={t(
            item.connection.state === 'missing'
              ? 'credentials.connection.connect'
              : 'credentials.connection.again',
          )}
          onClick={() => setDialog('connect')}
        />
      )}
      <RowMenu label={t('credentials.actionsNamed', { name: item.name })}>
        <Menu.Item leftSection={<PlugZap size={14} />} onClick={() => setDialog('test')}>
          {t('credentials.test.action')}
        </Menu.Item>
        <Menu.Item leftSection={<CalendarClock size={14} />} onClick={() => setDialog('expiry')}>
          {t('credentials.expiry')}
        </Menu.Item>
        <Menu.Item leftSection={<ListTree size={14} />} onClick={() => setDialog('usage')}>
          {t('credentials.usage')}
        </Menu.Item>
        <Menu.Item color="red" leftSection={<Trash2 size={14} />} onClick={() => setDialog('remove')}>
          {t('credentials.remove')}
        </Menu.Item>
      </RowMenu>
      {dialog === 'edit' && <CredentialDialog credential={item} onClose={close} />}
      {dialog === 'connect' && <ConnectDialog item={item} onClose={close} />}
      {dialog === 'test' && <TestDialog item={item} onChange={() => setDialog('edit')} onClose={close} />}
      {dialog === 'expiry' && <ExpiryDialog item={item} onClose={close} />}
      {dialog === 'usage' && <UsageDialog item={item} onClose={close} />}
      {dialog === 'remove' && <RemoveDialog item={item} onClose={close} />}
    </Group>
  );
}

interface DialogProps {
  item: Credential;
  onClose: () => void;
}

function useUsage({ id }: Credential) {
  const org = useOrg();
  return useQuery(
    endpointQuery('GET /orgs/:org/credentials/:credential/usage', { params: { org, credential: id } }),
  );
}

function UsageDialog({ item, onClose }: DialogProps) {
  const { t } = useTranslation();
  const usage = useUsage(item);
  return (
    <Modal opened onClose={onClose} title={t('credentials.usageTitle', { name: item.name })}>
      <QueryState query={usage} rows={2} />
      {usage.isSuccess &&
        (usage.data.items.length === 0 ? (
          <Muted>{t('credentials.unused')}</Muted>
        ) : (
          <WorkflowLinks items={usage.data.items} />
        ))}
    </Modal>
  );
}

function WorkflowLinks({ items }: { items: readonly { readonly id: number; readonly name: string }[] }) {
  const org = useOrg();
  return (
    <List size="sm" spacing={4}>
      {items.map(({ id, name }) => (
        <List.Item key={id}>
          <Anchor
            component={Link}
            to={`/o/${org}/workflows/${id}`}
            size="sm"
            style={{ overflowWrap: 'anywhere' }}
          >
            {name}
          </Anchor>
        </List.Item>
      ))}
    </List>
  );
}

/** Lists the workflows that use the credential before deleting it; organisation admins only. */
function RemoveDialog({ item, onClose }: DialogProps) {
  const { t } = useTranslation();
  const org = useOrg();
  const { can } = useRole();
  const usage = useUsage(item);
  const workflows = usage.data?.items ?? [];
  const isUsed = workflows.length > 0;
  const isForbidden = isUsed && !can('org_admin');
  const remove = useChange(
    () =>
      call('DELETE /orgs/:org/credentials/:credential', {
        params: { org, credential: item.id },
        query: isUsed ? { force: true } : {},
      }),
    {
      done: t('credentials.removed', { name: item.name }),
      refreshes: ['GET /orgs/:org/credentials'],
      onSuccess: onClose,
    },
  );
  if (isForbidden) {
    return (
      <Modal opened onClose={onClose} title={t('credentials.removeTitle', { name: item.name })}>
        <Stack gap="xs">
          <Text size="sm">{t('credentials.removeUsedEditor')}</Text>
          <WorkflowLinks items={workflows} />
        </Stack>
      </Modal>
    );
  }
  return (
    <ConfirmDialog
      title={t('credentials.removeTitle', { name: item.name })}
      action={t('credentials.remove')}
      {...(isUsed ? { typed: item.name } : {})}
      isBusy={remove.isPending || usage.isPending}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      <Stack gap="xs">
        <span>{t('credentials.removeHint')}</span>
        {isUsed && (
          <>
            <Text size="sm" fw={500}>
              {t('credentials.removeUsed')}
            </Text>
            <WorkflowLinks items={workflows} />
          </>
        )}
      </Stack>
    </ConfirmDialog>
  );
}
