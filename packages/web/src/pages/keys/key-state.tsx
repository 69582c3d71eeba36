import { Anchor, Group, Stack, Text } from '@mantine/core';
import type { ApiKey, KeyState } from '@millrace/admin-api';
import { useOrg } from '@millrace/ui/api/me.ts';
import { IconBadge } from '@millrace/ui/components/icon-badge.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { formatDuration, Moment } from '@millrace/ui/components/time.tsx';
import { useNow } from '@millrace/ui/components/use-now.ts';
import { Link } from '@tanstack/react-router';
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
import { useTranslation } from 'react-i18next';
import { shortKey } from './key-text.ts';

const STATE_STYLES: { readonly [State in KeyState]: { readonly color: string; readonly icon: LucideIcon } } =
  {
    valid: { color: 'green', icon: CircleCheck },
    expiring: { color: 'yellow', icon: Clock },
    rotated: { color: 'blue', icon: RotateCcwKey },
    locked: { color: 'orange', icon: LockKeyhole },
    expired: { color: 'gray', icon: Hourglass },
    revoked: { color: 'gray', icon: Ban },
  };

/** A key's state, and what to do about it. */
export function KeyStateCell({ item }: { item: ApiKey }) {
  const { t, i18n } = useTranslation();
  const when = new Date(item.created_at).toLocaleDateString(i18n.language, { dateStyle: 'medium' });
  return (
    <Stack gap={4} align="flex-start">
      <Group gap={4}>
        <IconBadge {...STATE_STYLES[item.state]}>{t(`keys.state.${item.state}`)}</IconBadge>
        {item.is_due && (
          <IconBadge icon={RotateCcwKey} color="yellow" hint={t('keys.dueHint', { when })} tabIndex={0}>
            {t('keys.due')}
          </IconBadge>
        )}
      </Group>
      {item.state === 'locked' && <Lock item={item} />}
      {item.state === 'rotated' && <Overlap item={item} />}
      {item.state === 'revoked' && item.revoked_at !== null && (
        <Hint component="div">
          <Moment at={item.revoked_at} />
        </Hint>
      )}
    </Stack>
  );
}

/** Why and since when a key is locked, and where to find who caused it. */
function Lock({ item: { locked_at: at } }: { item: ApiKey }) {
  const { t } = useTranslation();
  const org = useOrg();
  return (
    <Stack gap={2}>
      {at !== null && (
        <Text size="xs" component="div">
          {t('keys.lockedSince')}: <Moment at={at} />
        </Text>
      )}
      <Hint>{t('keys.lockedHint')}</Hint>
      <Anchor
        component={Link}
        to={`/o/${org}/audit`}
        search={{ action: 'api_key.locked' } as never}
        size="xs"
      >
        {t('keys.lockedBy')}
      </Anchor>
    </Stack>
  );
}

/** How long the old key still works beside its successor, and who has yet to switch. */
function Overlap({ item }: { item: ApiKey }) {
  const { t } = useTranslation();
  const now = useNow();
  const leftMs = Math.max(Date.parse(item.valid_until ?? '') - now, 0);
  return (
    <Stack gap={2}>
      <Text size="xs" style={{ fontVariantNumeric: 'tabular-nums' }}>
        {t('keys.overlap', { left: formatDuration(Math.floor(leftMs / 1_000) * 1_000) })}
      </Text>
      {item.is_used_since_rotation ? <OldKeyUses item={item} /> : <Hint>{t('keys.overlapUnused')}</Hint>}
      {item.successor !== null && (
        <Hint style={{ overflowWrap: 'anywhere' }}>
          {t('keys.successor', { key: shortKey(item.successor) })}
        </Hint>
      )}
    </Stack>
  );
}

const MAX_ADDRESSES = 5;

/** The addresses that still use the old key. */
function OldKeyUses({ item: { uses_since_rotation: uses } }: { item: ApiKey }) {
  const { t } = useTranslation();
  return (
    <Group gap={4} c="var(--mantine-color-orange-light-color)" fz="xs" align="flex-start" wrap="nowrap">
      <CircleX size={12} aria-hidden style={{ marginTop: 3, flexShrink: 0 }} />
      <div>
        <Text size="xs">{t('keys.overlapUsed')}</Text>
        {uses.slice(0, MAX_ADDRESSES).map(({ ip, at }) => (
          <Text key={ip} size="xs" component="div" style={{ overflowWrap: 'anywhere' }}>
            <span style={{ fontFamily: 'var(--mantine-font-family-monospace)' }}>{ip}</span> (
            <Moment at={at} />)
          </Text>
        ))}
        {uses.length > MAX_ADDRESSES && (
          <Text size="xs">{t('keys.overlapMore', { count: uses.length - MAX_ADDRESSES })}</Text>
        )}
      </div>
    </Group>
  );
}
