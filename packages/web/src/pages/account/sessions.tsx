import { Badge, Button, Group, Stack, Text, Tooltip } from '@mantine/core';
import type { SessionItem } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { NarrowItem, NarrowList } from '@millrace/ui/components/data-table.tsx';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { QueryState } from '@millrace/ui/components/paged-list.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useQuery } from '@tanstack/react-query';
import { LogOut } from 'lucide-react';
import { useTranslation } from 'react-i18next';

/** The user's active sessions, with actions to end them. */
export function Sessions() {
  const { t } = useTranslation();
  const sessions = useQuery(endpointQuery('GET /me/sessions'));
  const endOthers = useChange(() => call('DELETE /me/sessions'), {
    done: t('account.othersEnded'),
    refreshes: ['GET /me/sessions'],
  });
  if (!sessions.isSuccess) return <QueryState query={sessions} rows={2} />;
  const { items } = sessions.data;
  return (
    <Stack gap="xs">
      <NarrowList>
        {items.map((item) => (
          <NarrowItem key={item.id}>
            <SessionRow item={item} />
          </NarrowItem>
        ))}
      </NarrowList>
      {items.some((item) => !item.is_current) && (
        <Group>
          <Button variant="default" loading={endOthers.isPending} onClick={() => endOthers.mutate()}>
            {t('account.endOthers')}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function SessionRow({ item }: { item: SessionItem }) {
  const { t } = useTranslation();
  const name = useBrowserName(item.user_agent);
  const address = item.source_ip ?? '-';
  const end = useChange(() => call('DELETE /me/sessions/:session', { params: { session: item.id } }), {
    done: t('account.sessionEnded'),
    refreshes: ['GET /me/sessions'],
  });
  return (
    <Group justify="space-between" wrap="nowrap">
      <Stack gap={2} miw={0}>
        <Group gap={6}>
          <Tooltip label={item.user_agent} multiline maw={420} disabled={item.user_agent === ''}>
            <Text size="sm" fw={500} truncate>
              {name}
            </Text>
          </Tooltip>
          {item.is_current && <Badge>{t('account.thisBrowser')}</Badge>}
        </Group>
        <Group gap="xs" c="dimmed">
          <Text size="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
            {address}
          </Text>
          <Text size="xs" component="div">
            {t('account.lastUsed')} <Moment at={item.last_seen_at} />
          </Text>
          <Text size="xs" component="div">
            {t('account.signedIn')} <Moment at={item.created_at} />
          </Text>
        </Group>
      </Stack>
      {!item.is_current && (
        <IconButton
          icon={LogOut}
          label={t('account.endSessionNamed', { browser: name, address })}
          hint={t('account.endSession')}
          loading={end.isPending}
          onClick={() => end.mutate()}
        />
      )}
    </Group>
  );
}

function useBrowserName(userAgent: string): string {
  const { t } = useTranslation();
  const { browser, system } = readUserAgent(userAgent);
  if (browser !== null && system !== null) return t('account.browserOn', { browser, system });
  return browser ?? system ?? (userAgent === '' ? t('account.unknownBrowser') : userAgent.slice(0, 60));
}

/** Browser names by the tokens specific to them; browsers that also send others' tokens come first. */
const BROWSERS: readonly (readonly [form: RegExp, name: string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\b(?:OPR|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:HeadlessChrome|Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const SYSTEMS: readonly (readonly [form: RegExp, name: string])[] = [
  [/\b(?:iPhone|iPod)\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\b(?:Macintosh|Mac OS X)\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

/** Browser and system from a User-Agent header; null where unknown. */
function readUserAgent(text: string): {
  readonly browser: string | null;
  readonly system: string | null;
} {
  const find = (list: typeof BROWSERS): string | null => list.find(([form]) => form.test(text))?.[1] ?? null;
  return { browser: find(BROWSERS), system: find(SYSTEMS) };
}
