import { Select, TextInput } from '@mantine/core';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { notifyUnlessOfFields, useChange } from '@millrace/ui/components/use-change.ts';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { problemOf, type SectionProps, useSaveSettings } from './save-settings.ts';
import { Section } from './section.tsx';

const TIME_ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];

/** The organisation's name and time zone. */
export function GeneralSection({ settings }: SectionProps) {
  const { t } = useTranslation();
  const [name, setName] = useState(settings.name);
  const [zone, setZone] = useState(settings.time_zone);
  const org = useOrg();
  // The name stands in the switch of organisations, too.
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
    // What was refused is said by each; the other one is saved all the same.
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
