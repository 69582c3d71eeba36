import { Alert, Checkbox, Code, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import type { Scope } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { KEY_LISTS, SCOPES, scopeText } from './key-text.ts';
import type { IssuedSecret } from './secret-dialog.tsx';

/** Asks for a new key's name, scopes and expiry. */
export function IssueDialog({
  onClose,
  onIssued,
}: {
  onClose: () => void;
  onIssued: (issued: IssuedSecret) => void;
}) {
  const { t } = useTranslation();
  const org = useOrg();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<Scope[]>([]);
  const [choice, setChoice] = useState<ExpiryChoice>('90');
  const [date, setDate] = useState('');
  const expiresAt = expiryOf(choice, date, Date.now());
  const issue = useChange(
    () =>
      call('POST /orgs/:org/keys', {
        params: { org },
        body: { name: name.trim(), scopes, expires_at: expiryOf(choice, date, Date.now()) ?? null },
      }),
    {
      refreshes: KEY_LISTS,
      onSuccess: ({ key, secret, api_url: apiUrl }) => onIssued({ key, secret, apiUrl, oldKeyUntil: null }),
    },
  );
  return (
    <FormDialog
      title={t('keys.issue')}
      action={t('keys.issueAction')}
      isBusy={issue.isPending}
      isReady={name.trim() !== '' && scopes.length > 0 && expiresAt !== undefined}
      onSubmit={() => issue.mutate()}
      onClose={onClose}
    >
      <TextInput
        data-autofocus
        label={t('keys.name')}
        description={t('keys.nameHint')}
        placeholder={t('keys.nameExample')}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={255}
        autoComplete="off"
        required
      />
      <Checkbox.Group
        label={t('keys.scopes')}
        description={t('keys.scopesHint')}
        size="xs"
        value={scopes}
        onChange={(chosen) => setScopes(chosen as Scope[])}
        withAsterisk
      >
        <Stack gap={8} mt={8}>
          {SCOPES.map((scope) => (
            <Checkbox
              key={scope}
              value={scope}
              size="xs"
              label={
                <Group gap={6}>
                  <Text size="sm">{t(scopeText(scope))}</Text>
                  <Code>{scope}</Code>
                </Group>
              }
            />
          ))}
        </Stack>
      </Checkbox.Group>
      <Group grow align="flex-start" gap="xs">
        <Select
          label={t('keys.expiry')}
          data={EXPIRY_CHOICES.map((each) => ({ value: each, label: t(`keys.expiryChoice.${each}`) }))}
          value={choice}
          onChange={(next) => setChoice((next ?? '90') as ExpiryChoice)}
          allowDeselect={false}
        />
        {choice === 'date' && (
          <TextInput
            type="date"
            label={t('keys.expiryDate')}
            value={date}
            onChange={(event) => setDate(event.currentTarget.value)}
            required
          />
        )}
      </Group>
      {choice === 'never' && (
        <Alert color="yellow" variant="light" py="xs">
          {t('keys.neverHint')}
        </Alert>
      )}
    </FormDialog>
  );
}

/** Expiry options in days; 90 is the default. */
const EXPIRY_CHOICES = ['30', '90', '180', '365', 'date', 'never'] as const;
type ExpiryChoice = (typeof EXPIRY_CHOICES)[number];

const DAY_MS = 86_400_000;

/**
 * The expiry of a key issued now.
 * @param date `2027-01-31`, for the choice `date`: its last moment in the reader's zone
 * @returns null: never; undefined: the date is invalid or has passed
 */
function expiryOf(choice: ExpiryChoice, date: string, now: number): string | null | undefined {
  if (choice === 'never') return null;
  if (choice !== 'date') return new Date(now + Number(choice) * DAY_MS).toISOString();
  const end = new Date(`${date}T23:59:59`);
  return Number.isNaN(end.getTime()) || end.getTime() <= now ? undefined : end.toISOString();
}
