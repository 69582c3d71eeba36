import { Anchor, Group, List, Menu, Modal, Stack, Text } from '@mantine/core';
import type { Credential, CredentialUsage } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg, useRole } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { ConfirmDialog } from '@millrace/ui/components/form-dialog.tsx';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { QueryState } from '@millrace/ui/components/paged-list.tsx';
import { RowMenu } from '@millrace/ui/components/row-menu.tsx';
import { Muted } from '@millrace/ui/components/text.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CalendarClock, ListTree, Pencil, PlugZap, Trash2, Unplug } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';

const ConnectDialog = lazyPart(async () => (await import('./connect-dialog.tsx')).ConnectDialog);
const CredentialDialog = lazyPart(async () => (await import('./credential-dialog.tsx')).CredentialDialog);
const ExpiryDialog = lazyPart(async () => (await import('./expiry-dialog.tsx')).ExpiryDialog);
const TestDialog = lazyPart(async () => (await import('./test-dialog.tsx')).TestDialog);

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
        (isUsed(usage.data) ? <Users of={usage.data} /> : <Muted>{t('credentials.unused')}</Muted>)}
    </Modal>
  );
}

function isUsed({ items, alert_rules: rules }: CredentialUsage): boolean {
  return items.length > 0 || rules.length > 0;
}

/** The workflows and alert rules that use a credential. */
function Users({ of: { items, alert_rules: rules } }: { of: CredentialUsage }) {
  const { t } = useTranslation();
  const org = useOrg();
  const { can } = useRole();
  return (
    <Stack gap="xs">
      <UserLinks
        title={t('credentials.usedByWorkflows')}
        items={items}
        linkTo={({ id }) => `/o/${org}/workflows/${id}`}
      />
      <UserLinks
        title={t('credentials.usedByAlertRules')}
        items={rules}
        linkTo={can('org_admin') ? () => `/o/${org}/alerts` : null}
      />
    </Stack>
  );
}

interface LinksProps {
  title: string;
  items: CredentialUsage['items'];
  /** Null: the reader may not go there. */
  linkTo: ((item: CredentialUsage['items'][number]) => string) | null;
}

function UserLinks({ title, items, linkTo }: LinksProps) {
  if (items.length === 0) return null;
  return (
    <div>
      <Text size="sm" fw={500} mb={4}>
        {title}
      </Text>
      <List size="sm" spacing={4} style={{ overflowWrap: 'anywhere' }}>
        {items.map((item) => (
          <List.Item key={item.id}>
            {linkTo === null ? (
              item.name
            ) : (
              <Anchor component={Link} to={linkTo(item)} size="sm">
                {item.name}
              </Anchor>
            )}
          </List.Item>
        ))}
      </List>
    </div>
  );
}

/** Lists what uses the credential before deleting it; organisation admins only. */
function RemoveDialog({ item, onClose }: DialogProps) {
  const { t } = useTranslation();
  const org = useOrg();
  const { can } = useRole();
  const usage = useUsage(item);
  const used = usage.data !== undefined && isUsed(usage.data) ? usage.data : null;
  const remove = useChange(
    () =>
      call('DELETE /orgs/:org/credentials/:credential', {
        params: { org, credential: item.id },
        query: used !== null ? { force: true } : {},
      }),
    {
      done: t('credentials.removed', { name: item.name }),
      refreshes: ['GET /orgs/:org/credentials'],
      onSuccess: onClose,
    },
  );
  if (used !== null && !can('org_admin')) {
    return (
      <Modal opened onClose={onClose} title={t('credentials.removeTitle', { name: item.name })}>
        <Stack gap="xs">
          <Text size="sm">{t('credentials.removeUsedEditor')}</Text>
          <Users of={used} />
        </Stack>
      </Modal>
    );
  }
  return (
    <ConfirmDialog
      title={t('credentials.removeTitle', { name: item.name })}
      action={t('credentials.remove')}
      {...(used !== null ? { typed: item.name } : {})}
      isBusy={remove.isPending || usage.isPending}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      <Stack gap="xs">
        <span>{t('credentials.removeHint')}</span>
        {used !== null && (
          <>
            <Text size="sm" fw={500}>
              {t('credentials.removeUsed')}
            </Text>
            <Users of={used} />
          </>
        )}
      </Stack>
    </ConfirmDialog>
  );
}
