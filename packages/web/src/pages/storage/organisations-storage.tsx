import { Stack, Text, Title } from '@mantine/core';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { QueryState } from '@millrace/ui/components/paged-list.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { StorageBars } from './storage-bars.tsx';

const REFRESH_MS = 30_000;

/** The organisations that store most. */
export function OrganisationsStorage() {
  const { t } = useTranslation();
  const storage = useQuery({ ...endpointQuery('GET /system/storage'), refetchInterval: REFRESH_MS });
  return (
    <Stack gap="xs" component="section" aria-label={t('storage.title')}>
      <Title order={2}>{t('storage.title')}</Title>
      <Hint>{t('storage.aboutAll')}</Hint>
      <QueryState query={storage} />
      {storage.data?.items.map(({ organisation, parts }) => (
        <Stack
          key={organisation.id}
          gap={4}
          py="xs"
          style={{ borderTop: '1px solid var(--mantine-color-default-border)' }}
        >
          <Text size="sm" fw={600} truncate title={organisation.name}>
            {organisation.name}
          </Text>
          <StorageBars parts={parts} owner={organisation.name} />
        </Stack>
      ))}
    </Stack>
  );
}
