import { Group, Menu, Stack, Switch, Text } from '@mantine/core';
import type { AlertRule } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { DataTable } from '@millrace/ui/components/data-table.tsx';
import { ConfirmChange } from '@millrace/ui/components/form-dialog.tsx';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { notifyDone, notifyWarning } from '@millrace/ui/components/notify.ts';
import { RowMenu } from '@millrace/ui/components/row-menu.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { Pencil, Send, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { conditionText } from './alert-text.ts';
import { RuleDialog } from './rule-dialog.tsx';

/** The rules as a table, or as a list in a narrow window. */
export function RuleTable({ items }: { items: readonly AlertRule[] }) {
  const { t } = useTranslation();
  return (
    <DataTable
      aria-label={t('alerts.rules')}
      items={items}
      columns={[
        { head: t('alerts.name'), cell: (item) => <Name item={item} /> },
        { head: t('alerts.when'), cell: (item) => <Condition item={item} /> },
        { head: t('alerts.channel'), width: 110, cell: ({ channel }) => t(`alerts.channels.${channel}`) },
        { head: t('alerts.enabled'), width: 90, cell: (item) => <Enabled item={item} /> },
      ]}
      actions={(item) => <Actions item={item} />}
      actionsWidth={84}
      narrow={(item) => (
        <>
          <Group justify="space-between" wrap="nowrap" align="flex-start">
            <Name item={item} />
            <Actions item={item} />
          </Group>
          <Condition item={item} />
          <Enabled item={item} />
        </>
      )}
    />
  );
}

/** With what waits for the next message: for its interval, the quiet hours or the limit of an hour. */
function Name({ item: { name, waiting, next_message_at: nextAt } }: { item: AlertRule }) {
  const { t } = useTranslation();
  return (
    <Stack gap={0} miw={0}>
      <Text size="sm" fw={500} truncate title={name}>
        {name}
      </Text>
      {nextAt !== null && (
        <Hint>
          {t('alerts.waiting', { count: waiting })} <Moment at={nextAt} />
        </Hint>
      )}
    </Stack>
  );
}

function Condition({ item }: { item: AlertRule }) {
  const { t } = useTranslation();
  return (
    <Stack gap={0} miw={0}>
      <Text size="sm">{conditionText(item, t)}</Text>
      {item.workflow_name !== null && <Hint>{item.workflow_name}</Hint>}
    </Stack>
  );
}

function Enabled({ item: { id, name, is_enabled: isEnabled } }: { item: AlertRule }) {
  const { t } = useTranslation();
  const org = useOrg();
  const change = useChange(
    (next: boolean) =>
      call('PATCH /orgs/:org/alert-rules/:rule', { params: { org, rule: id }, body: { is_enabled: next } }),
    { refreshes: ['GET /orgs/:org/alert-rules'] },
  );
  return (
    <Switch
      size="xs"
      aria-label={t('alerts.enable', { name })}
      checked={isEnabled}
      disabled={change.isPending}
      onChange={(event) => change.mutate(event.currentTarget.checked)}
    />
  );
}

function Actions({ item }: { item: AlertRule }) {
  const { t } = useTranslation();
  const org = useOrg();
  const [dialog, setDialog] = useState<'edit' | 'delete' | null>(null);
  const close = () => setDialog(null);
  const params = { org, rule: item.id };
  const test = useChange(() => call('POST /orgs/:org/alert-rules/:rule/test', { params }), {
    refreshes: ['GET /orgs/:org/alerts'],
    onSuccess: ({ error }) => {
      if (error === null) notifyDone(t('alerts.testSent'));
      else notifyWarning(t('alerts.testFailed', { reason: translateMessage(error) }));
    },
  });
  return (
    <Group gap={2} wrap="nowrap" justify="flex-end">
      <IconButton
        icon={Pencil}
        label={t('alerts.editTitle', { name: item.name })}
        hint={t('common.edit')}
        onClick={() => setDialog('edit')}
      />
      <RowMenu label={t('alerts.actionsNamed', { name: item.name })} width={220}>
        <Menu.Item leftSection={<Send size={14} />} disabled={test.isPending} onClick={() => test.mutate()}>
          {t('alerts.test')}
        </Menu.Item>
        <Menu.Item color="red" leftSection={<Trash2 size={14} />} onClick={() => setDialog('delete')}>
          {t('common.delete')}
        </Menu.Item>
      </RowMenu>
      {dialog === 'edit' && <RuleDialog rule={item} onClose={close} />}
      {dialog === 'delete' && (
        <ConfirmChange
          title={t('alerts.deleteTitle', { name: item.name })}
          action={t('common.delete')}
          change={() => call('DELETE /orgs/:org/alert-rules/:rule', { params })}
          done={t('alerts.deleted', { name: item.name })}
          refreshes={['GET /orgs/:org/alert-rules']}
          onClose={close}
        >
          {t('alerts.deleteHint')}
        </ConfirmChange>
      )}
    </Group>
  );
}
