import '@millrace/ui/i18n/parts/executions.ts';
import '@millrace/ui/i18n/parts/settings.ts';
import '@millrace/ui/i18n/parts/storage.ts';
import { Group, NumberInput, Radio, Select, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { Page } from '@millrace/ui/components/page.tsx';
import { QueryState } from '@millrace/ui/components/paged-list.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { notifyUnlessOfFields, useChange } from '@millrace/ui/components/use-change.ts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConnectorsSection } from './connectors-section.tsx';
import { ErrorWorkflowSection } from './error-workflow-section.tsx';
import { problemOf, type SectionProps, useSaveSettings } from './save-settings.ts';
import { Section } from './section.tsx';
import { StorageSection } from './storage-section.tsx';

/** The organisation's settings; each section is saved separately. */
export function SettingsPage() {
  const { t } = useTranslation();
  const org = useOrg();
  const settings = useQuery(endpointQuery('GET /orgs/:org/settings', { params: { org } }));
  return (
    <Page title={t('settings.title')} description={t('settings.about')} width={820}>
      <QueryState query={settings} />
      {settings.isSuccess && (
        <div key={org}>
          <GeneralSection settings={settings.data} />
          <RetentionSection settings={settings.data} />
          <ErrorWorkflowSection settings={settings.data} />
          <LimitsSection settings={settings.data} />
          <HostsSection settings={settings.data} />
          <ConnectorsSection />
          <StorageSection />
        </div>
      )}
    </Page>
  );
}

const STATUSES = ['completed', 'failed', 'cancelled'] as const;

/** How long ended executions are kept; empty: the service's default. */
function RetentionSection({ settings: { retention_days: saved, service } }: SectionProps) {
  const { t } = useTranslation();
  const [days, setDays] = useState(saved);
  const save = useSaveSettings();
  return (
    <Section
      title={t('settings.retention')}
      about={t('settings.retentionHint')}
      isChanged={STATUSES.some((status) => days[status] !== saved[status])}
      isBusy={save.isPending}
      onSubmit={() => save.mutate({ retention_days: days })}
    >
      <Group grow align="flex-start" gap="xs">
        {STATUSES.map((status) => (
          <NumberInput
            key={status}
            label={t(`executions.status.${status}`)}
            description={t('settings.serviceDays', { count: service.retention_days[status] })}
            placeholder={String(service.retention_days[status])}
            value={days[status] ?? ''}
            onChange={(next) => setDays({ ...days, [status]: typeof next === 'number' ? next : null })}
            error={problemOf(save.error, `/retention_days/${status}`)}
            min={1}
            max={service.retention_days[status]}
            allowDecimal={false}
            clampBehavior="none"
          />
        ))}
      </Group>
      <Hint>{t('settings.auditDays', { count: service.audit_days })}</Hint>
    </Section>
  );
}

/** Rate limits of the public API. */
function LimitsSection({ settings: { requests_per_minute: saved, service } }: SectionProps) {
  const { t, i18n } = useTranslation();
  const [requests, setRequests] = useState(saved);
  const save = useSaveSettings();
  const perKey = service.requests_per_minute_per_key;
  return (
    <Section
      title={t('settings.limits')}
      about={t('settings.requestsHint')}
      isChanged={requests !== saved}
      isBusy={save.isPending}
      onSubmit={() => save.mutate({ requests_per_minute: requests })}
    >
      <NumberInput
        label={t('settings.requests')}
        description={
          perKey === 0
            ? t('settings.requestsServiceNone')
            : t('settings.requestsService', {
                limit: perKey.toLocaleString(i18n.language),
              })
        }
        placeholder={t('settings.requestsNone')}
        value={requests ?? ''}
        onChange={(next) => setRequests(typeof next === 'number' ? next : null)}
        error={problemOf(save.error, '/requests_per_minute')}
        min={1}
        allowDecimal={false}
        clampBehavior="none"
        thousandSeparator
        maw={320}
      />
    </Section>
  );
}

/** Hosts that the organisation's nodes may call. */
function HostsSection({ settings: { allowed_hosts: saved, service } }: SectionProps) {
  const { t } = useTranslation();
  const [isListed, setIsListed] = useState(saved !== null);
  const [hosts, setHosts] = useState<string[]>(saved ?? []);
  const save = useSaveSettings();
  const wanted = isListed ? hosts : null;
  return (
    <Section
      title={t('settings.hosts')}
      about={t('settings.hostsHint')}
      isChanged={JSON.stringify(wanted) !== JSON.stringify(saved)}
      isBusy={save.isPending}
      onSubmit={() =>
        save.mutate(
          { allowed_hosts: wanted },
          { onSuccess: ({ allowed_hosts: stored }) => setHosts(stored ?? []) },
        )
      }
    >
      <Radio.Group
        aria-label={t('settings.hosts')}
        value={isListed ? 'only' : 'all'}
        onChange={(next) => setIsListed(next === 'only')}
      >
        <Stack gap={8}>
          <Radio
            size="xs"
            value="all"
            label={t('settings.hostsAll')}
            description={
              service.allowed_hosts.length === 0
                ? t('settings.hostsService')
                : t('settings.hostsServiceOpened', {
                    hosts: service.allowed_hosts.join(', '),
                    interpolation: { escapeValue: false },
                  })
            }
            styles={{ description: { overflowWrap: 'anywhere' } }}
          />
          <Radio size="xs" value="only" label={t('settings.hostsOnly')} />
        </Stack>
      </Radio.Group>
      {isListed && (
        <TagsInput
          label={t('settings.hostsLabel')}
          description={t('settings.hostsExample')}
          value={hosts}
          onChange={setHosts}
          error={problemOf(save.error, '/allowed_hosts')}
          splitChars={[',', ' ']}
          acceptValueOnBlur
          clearable
        />
      )}
      {isListed && hosts.length === 0 && (
        <Text size="xs" c="var(--mantine-color-orange-light-color)">
          {t('settings.hostsNone')}
        </Text>
      )}
    </Section>
  );
}

const TIME_ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];

/** The organisation's name and time zone. */
function GeneralSection({ settings }: SectionProps) {
  const { t } = useTranslation();
  const [name, setName] = useState(settings.name);
  const [zone, setZone] = useState(settings.time_zone);
  const org = useOrg();
  // The organisation switch shows the name too.
  const rename = useChange(
    (to: string) => call('PATCH /orgs/:org', { params: { org }, body: { name: to } }),
    {
      refreshes: ['GET /me'],
      onError: notifyUnlessOfFields,
    },
  );
  const save = useSaveSettings();
  const isRenamed = name.trim() !== '' && name.trim() !== settings.name;
  const isMoved = zone !== settings.time_zone;
  const submit = async () => {
    // Each mutation reports its own failure; the other one is saved anyway.
    const isTaken = isRenamed && (await rename.mutateAsync(name.trim()).then(Boolean, () => false));
    if (isTaken || isMoved) save.mutate({ time_zone: zone });
  };
  return (
    <Section
      title={t('settings.general')}
      isChanged={isRenamed || isMoved}
      isBusy={rename.isPending || save.isPending}
      onSubmit={() => void submit()}
    >
      <TextInput
        label={t('settings.name')}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={problemOf(rename.error, '/name')}
        maxLength={255}
        required
      />
      <Select
        label={t('settings.timeZone')}
        description={t('settings.timeZoneHint')}
        placeholder={t('settings.timeZoneNone')}
        data={TIME_ZONES}
        value={zone}
        onChange={setZone}
        error={problemOf(save.error, '/time_zone')}
        searchable
        clearable
      />
    </Section>
  );
}
