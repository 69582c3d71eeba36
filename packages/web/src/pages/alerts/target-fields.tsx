import { Select, TextInput } from '@mantine/core';
import { ALERT_CHANNELS, type AlertChannel, type AlertTarget } from '@millrace/admin-api';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';

/** The type of credential that each channel needs. */
const CREDENTIALS: { readonly [C in AlertChannel]: string } = {
  mail: 'smtp',
  chat: 'chat',
  webhook: 'secret',
};

/** How and where to the messages are sent. */
export function TargetFields({
  channel,
  target,
  onChannel,
  onTarget,
  error,
}: {
  channel: AlertChannel;
  target: AlertTarget;
  onChannel: (channel: AlertChannel) => void;
  onTarget: (target: AlertTarget) => void;
  error: string | undefined;
}) {
  const { t } = useTranslation();
  const org = useOrg();
  const { data } = useQuery(endpointQuery('GET /orgs/:org/credentials', { params: { org } }));
  const suitable = (data?.items ?? []).filter(({ type }) => type === CREDENTIALS[channel]);
  const text = (name: 'from' | 'to' | 'url', isRequired: boolean, isLast = false) => (
    <TextInput
      label={t(`alerts.target.${channel}.${name}` as 'alerts.target.mail.from')}
      value={target[name] ?? ''}
      onChange={(event) => onTarget({ ...target, [name]: event.currentTarget.value })}
      error={isLast ? error : undefined}
      autoComplete="off"
      required={isRequired}
    />
  );
  return (
    <>
      <Select
        label={t('alerts.channel')}
        data={ALERT_CHANNELS.map((value) => ({ value, label: t(`alerts.channels.${value}`) }))}
        value={channel}
        onChange={(next) => onChannel((next ?? 'mail') as AlertChannel)}
        allowDeselect={false}
      />
      <Select
        label={t(`alerts.credential.${channel}`)}
        placeholder={suitable.length === 0 ? t('alerts.noCredential') : ''}
        data={suitable.map(({ id, name }) => ({ value: String(id), label: name }))}
        value={target.credential_id === 0 ? null : String(target.credential_id)}
        onChange={(id) => onTarget({ ...target, credential_id: Number(id ?? 0) })}
        searchable
        required
      />
      {channel === 'mail' && text('from', true)}
      {channel === 'mail' && text('to', true, true)}
      {channel === 'chat' && text('to', false, true)}
      {channel === 'webhook' && text('url', true, true)}
    </>
  );
}
