import '@millrace/ui/i18n/parts/credentials.ts';
import { TextInput } from '@mantine/core';
import type { Credential } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { QueryState } from '@millrace/ui/components/paged-list.tsx';
import { localText } from '@millrace/ui/components/time.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';

/** Asks when what a credential holds ends. */
export function ExpiryDialog({ item, onClose }: { item: Credential; onClose: () => void }) {
  const { t } = useTranslation();
  const params = { org: useOrg(), credential: item.id };
  const expiry = useQuery({
    ...endpointQuery('GET /orgs/:org/credentials/:credential/expiry', { params }),
    staleTime: 0,
  });
  const [entered, setEntered] = useState<string | null>(null);
  const date = entered ?? dayOf(expiry.data?.expires_at ?? null);
  const save = useChange(
    () =>
      call('PUT /orgs/:org/credentials/:credential/expiry', { params, body: { expires_at: endOf(date) } }),
    {
      done: t('credentials.saved', { name: item.name }),
      refreshes: ['GET /orgs/:org/credentials/:credential/expiry'],
      onSuccess: onClose,
    },
  );
  return (
    <FormDialog
      title={t('credentials.expiryTitle', { name: item.name })}
      action={t('common.save')}
      isBusy={save.isPending}
      isReady={expiry.isSuccess}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <QueryState query={expiry} rows={1} />
      {expiry.isSuccess && (
        <TextInput
          data-autofocus
          type="date"
          label={t('credentials.expiryDate')}
          description={t('credentials.expiryHint')}
          value={date}
          onChange={(event) => setEntered(event.currentTarget.value)}
        />
      )}
    </FormDialog>
  );
}

/** The day in the reader's zone; empty for none. */
function dayOf(moment: string | null): string {
  return moment === null ? '' : localText(new Date(moment)).slice(0, 10);
}

/** The end of a day in the reader's zone; null for none. */
function endOf(day: string): string | null {
  return day === '' ? null : new Date(`${day}T23:59:59`).toISOString();
}
