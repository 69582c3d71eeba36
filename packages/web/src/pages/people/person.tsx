import { Badge, Group, Stack, Text, Tooltip } from '@mantine/core';
import type { Member } from '@millrace/admin-api';
import { useMe } from '@millrace/ui/api/me.ts';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { ShieldCheck } from 'lucide-react';
import { useTranslation } from 'react-i18next';

/** A member or an account; no name while the address has no account. */
type ShownPerson = Pick<Member, 'email' | 'name' | 'is_address_proved' | 'has_second_factor'>;

/** Name, address, and whether the account has a second factor. */
export function Person({
  person: { email, name, is_address_proved: isProved, has_second_factor: isGuarded },
}: {
  person: ShownPerson;
}) {
  const { t } = useTranslation();
  const isMe = useMe()?.user.email === email;
  return (
    <Stack gap={0} miw={0}>
      <Group gap={6} wrap="nowrap">
        <Text size="sm" fw={500} truncate title={name ?? email}>
          {name ?? email}
        </Text>
        {isMe && <Badge style={{ flexShrink: 0 }}>{t('people.you')}</Badge>}
        {name === null && (
          <Tooltip label={t('people.noAccountHint')} multiline maw={300}>
            <Badge color="gray" style={{ flexShrink: 0 }}>
              {t('people.noAccount')}
            </Badge>
          </Tooltip>
        )}
        {!isProved && (
          <Tooltip label={t('people.unprovedHint')} multiline maw={300}>
            <Badge color="yellow" style={{ flexShrink: 0 }} tabIndex={0}>
              {t('people.unproved')}
            </Badge>
          </Tooltip>
        )}
        {isGuarded && (
          <Tooltip label={t('people.factorOn')}>
            <ShieldCheck
              size={14}
              role="img"
              aria-label={t('people.factorOn')}
              color="var(--mantine-primary-color-filled)"
              style={{ flexShrink: 0 }}
            />
          </Tooltip>
        )}
      </Group>
      {name !== null && (
        <Hint truncate title={email}>
          {email}
        </Hint>
      )}
    </Stack>
  );
}

/** When the user last used the admin area, in a session that hasn't ended. */
export function LastSeen({ at }: { at: string | null }) {
  const { t } = useTranslation();
  if (at !== null) return <Moment at={at} />;
  return <Muted>{t('people.never')}</Muted>;
}

/** The same where no table heading says what it is. */
export function NamedLastSeen({ at }: { at: string | null }) {
  const { t } = useTranslation();
  return (
    <Group gap={4} wrap="nowrap">
      <Hint>{t('people.lastSeen')}</Hint>
      <LastSeen at={at} />
    </Group>
  );
}
