import { Group, NumberInput } from '@mantine/core';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { problemOf, type SectionProps, useSaveSettings } from './save-settings.ts';
import { Section } from './section.tsx';

const STATUSES = ['completed', 'failed', 'cancelled'] as const;

/** How long ended executions are kept; empty: as long as the service keeps them. */
export function RetentionSection({ settings: { retention_days: saved, service } }: SectionProps) {
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
