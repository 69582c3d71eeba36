import { NumberInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { problemOf, type SectionProps, useSaveSettings } from './save-settings.ts';
import { Section } from './section.tsx';

/** How much may be asked of the public API. */
export function LimitsSection({ settings: { requests_per_minute: saved, service } }: SectionProps) {
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
