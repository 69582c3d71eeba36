import { Alert, Skeleton, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { JsonObject } from '@millrace/engine';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';

const CronWords = lazyPart(async () => (await import('@millrace/editor-model/cron-words.tsx')).default);
const PAUSE_MS = 300;

/** A schedule in words, and its next fire times in its zone. */
export function SchedulePreview({ config }: { config: JsonObject }) {
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
  const zone = data.timezone ?? 'UTC';
  return (
    <Stack gap={6} component="section" aria-label={t('forms.nextFires')}>
      {typeof cron === 'string' && (
        <Text size="sm" fw={500}>
          <CronWords cron={cron} />
        </Text>
      )}
      {data.fires.length === 0 ? (
        <Alert color="orange" p="xs">
          {data.faults.length === 0 ? t('forms.neverFires') : t('forms.scheduleUnfit')}
          {data.faults
            .filter(({ code }) => code !== 'required')
            .map((fault) => (
              <Text key={`${fault.pointer} ${fault.message}`} size="xs">
                {translateMessage(fault)}
              </Text>
            ))}
        </Alert>
      ) : (
        <>
          <Text size="xs" fw={500}>
            {t('forms.nextFiresIn', { zone })}
          </Text>
          <Fires fires={data.fires} zone={zone} language={i18n.language} />
        </>
      )}
    </Stack>
  );
}

/** Each time with the zone's UTC offset, and a note where that changes. */
function Fires({ fires, zone, language }: { fires: readonly string[]; zone: string; language: string }) {
  const { t } = useTranslation();
  const format = new Intl.DateTimeFormat(language, {
    dateStyle: 'full',
    timeStyle: 'medium',
    timeZone: zone,
  });
  const own = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'long' });
  const offsets = fires.map((at) => offsetOf(at, zone));
  return (
    <Stack gap={2} component="ol" m={0} pl="md">
      {fires.map((at, index) => (
        <Text key={at} component="li" size="xs">
          <time dateTime={at} title={t('forms.inYours', { time: own.format(new Date(at)) })}>
            {format.format(new Date(at))}
          </time>{' '}
          <Hint span>{offsets[index]}</Hint>
          {index > 0 && offsets[index] !== offsets[index - 1] && (
            <Text span size="xs" c="var(--mantine-color-orange-light-color)">
              {' '}
              {t('forms.clocksChange')}
            </Text>
          )}
        </Text>
      ))}
    </Stack>
  );
}

/** `GMT+2`. */
function offsetOf(at: string, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'shortOffset' }).formatToParts(
    new Date(at),
  );
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
}
