import { Alert, Skeleton, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { JsonObject } from '@millrace/engine';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { useOrg } from '../api/me.ts';

const CronWords = lazy(() => import('./cron-words.tsx'));
const PAUSE_MS = 300;

/** A schedule in words, and when it fires next in its zone. */
export function SchedulePreview({ config }: { readonly config: JsonObject }) {
  const { t, i18n } = useTranslation();
  const org = useOrg();
  const [settled] = useDebouncedValue(config, PAUSE_MS);
  const { data, error } = useQuery({
    queryKey: ['POST /orgs/:org/schedule-previews', org, settled],
    queryFn: ({ signal }) =>
      call('POST /orgs/:org/schedule-previews', { params: { org }, body: { config: settled }, signal }),
    placeholderData: keepPreviousData,
  });
  const cron = (settled.schedule as JsonObject | undefined)?.cron;
  if (error !== null) return null;
  if (data === undefined) return <Skeleton height={120} />;
  const format = new Intl.DateTimeFormat(i18n.language, {
    dateStyle: 'full',
    timeStyle: 'medium',
    timeZone: data.timezone ?? 'UTC',
  });
  return (
    <Stack gap={6} component="section" aria-label={t('forms.nextFires')}>
      {typeof cron === 'string' && (
        <Suspense fallback={null}>
          <CronWords cron={cron} />
        </Suspense>
      )}
      {data.fires.length === 0 ? (
        <Alert color="orange" p="xs">
          {data.faults.length === 0
            ? t('forms.neverFires')
            : data.faults.map(({ message }) => message).join('\n')}
        </Alert>
      ) : (
        <>
          <Text size="xs" fw={500}>
            {t('forms.nextFiresIn', { zone: data.timezone ?? 'UTC' })}
          </Text>
          <Stack gap={0} component="ol" m={0} pl="md">
            {data.fires.map((at) => (
              <Text key={at} component="li" size="xs">
                <time dateTime={at}>{format.format(new Date(at))}</time>
              </Text>
            ))}
          </Stack>
        </>
      )}
    </Stack>
  );
}
