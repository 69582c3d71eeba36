import { Badge, Group, Stack, Text, Tooltip } from '@mantine/core';
import type { ApiKey, KeyState } from '@millrace/admin-api';
import {
  Ban,
  CircleCheck,
  CircleX,
  Clock,
  Hourglass,
  LockKeyhole,
  type LucideIcon,
  RotateCcwKey,
} from 'lucide-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { formatDuration, Moment } from '../../ui/time.tsx';

const LOOKS: { readonly [State in KeyState]: { readonly color: string; readonly icon: LucideIcon } } = {
  valid: { color: 'green', icon: CircleCheck },
  expiring: { color: 'yellow', icon: Clock },
  rotated: { color: 'blue', icon: RotateCcwKey },
  locked: { color: 'orange', icon: LockKeyhole },
  expired: { color: 'gray', icon: Hourglass },
  revoked: { color: 'gray', icon: Ban },
};

/** What a key is worth now, and what should be done about it. */
export function KeyStateCell({ item }: { readonly item: ApiKey }) {
  const { t, i18n } = useTranslation();
  const { color, icon: Icon } = LOOKS[item.state];
  const when = new Date(item.created_at).toLocaleDateString(i18n.language, { dateStyle: 'medium' });
  return (
    <Stack gap={4} align="flex-start">
      <Group gap={4}>
        <Badge color={color} leftSection={<Icon size={10} aria-hidden />}>
          {t(`keys.state.${item.state}`)}
        </Badge>
        {item.is_due && (
          <Tooltip label={t('keys.dueHint', { when })} multiline maw={280}>
            <Badge color="yellow" leftSection={<RotateCcwKey size={10} aria-hidden />} tabIndex={0}>
              {t('keys.due')}
            </Badge>
          </Tooltip>
        )}
      </Group>
      {item.state === 'locked' && (
        <Text size="xs" c="dimmed">
          {t('keys.lockedHint')}
        </Text>
      )}
      {item.state === 'rotated' && <Overlap item={item} />}
      {item.state === 'revoked' && item.revoked_at !== null && (
        <Text size="xs" c="dimmed" component="div">
          <Moment at={item.revoked_at} />
        </Text>
      )}
    </Stack>
  );
}

/** How long the old key works beside its successor, and whether somebody has yet to change it. */
function Overlap({ item }: { readonly item: ApiKey }) {
  const { t } = useTranslation();
  const now = useSecond();
  const leftMs = Math.max(Date.parse(item.valid_until ?? '') - now, 0);
  return (
    <Stack gap={2}>
      <Text size="xs" style={{ fontVariantNumeric: 'tabular-nums' }}>
        {t('keys.overlap', { left: formatDuration(Math.floor(leftMs / 1_000) * 1_000) })}
      </Text>
      {item.is_used_since_rotation && item.last_used_at !== null ? (
        <Group gap={4} c="var(--mantine-color-orange-light-color)" fz="xs" align="flex-start">
          <CircleX size={12} aria-hidden style={{ marginTop: 3, flexShrink: 0 }} />
          <Text size="xs" flex={1} style={{ overflowWrap: 'anywhere' }}>
            {t('keys.overlapUsed', { ip: item.last_used_ip ?? '?' })} (<Moment at={item.last_used_at} />)
          </Text>
        </Group>
      ) : (
        <Text size="xs" c="dimmed">
          {t('keys.overlapUnused')}
        </Text>
      )}
      {item.successor_id !== null && (
        <Text size="xs" c="dimmed">
          {t('keys.successor', { id: item.successor_id })}
        </Text>
      )}
    </Stack>
  );
}

/** The time, anew every second. */
function useSecond(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
