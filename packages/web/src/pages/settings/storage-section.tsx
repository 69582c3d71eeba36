import { Box, Group, Stack, Title } from '@mantine/core';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { QueryState } from '@millrace/ui/components/paged-list.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { StorageBars } from '../storage/storage-bars.tsx';

/** What the organisation stores; there is nothing to change. */
export function StorageSection() {
  const { t } = useTranslation();
  const org = useOrg();
  const storage = useQuery(endpointQuery('GET /orgs/:org/storage', { params: { org } }));
  return (
    <Box
      component="section"
      aria-label={t('storage.title')}
      py="md"
      style={{ borderTop: '1px solid var(--mantine-color-default-border)' }}
    >
      <Group align="flex-start" gap="lg" wrap="wrap">
        <Stack gap={4} w={{ base: '100%', sm: 240 }}>
          <Title order={2}>{t('storage.title')}</Title>
          <Hint>{t('storage.about')}</Hint>
        </Stack>
        <Stack gap="sm" flex={1} miw={{ base: '100%', sm: 300 }}>
          <QueryState query={storage} />
          {storage.isSuccess && <StorageBars parts={storage.data.parts} />}
        </Stack>
      </Group>
    </Box>
  );
}
