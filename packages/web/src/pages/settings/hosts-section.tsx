import { Radio, Stack, TagsInput, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { problemOf, type SectionProps, useSaveSettings } from './save-settings.ts';
import { Section } from './section.tsx';

/** Which hosts the organisation's nodes may call. */
export function HostsSection({ settings: { allowed_hosts: saved, service } }: SectionProps) {
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
