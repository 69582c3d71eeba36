import type { ApiKey } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { notifyDone, notifyFailure } from '@millrace/ui/components/notify.ts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';

/** Reads the list and the reminders again. */
export function useRefreshKeys(): () => Promise<unknown> {
  const queryClient = useQueryClient();
  return () =>
    Promise.all([
      queryClient.invalidateQueries({ queryKey: ['GET /orgs/:org/keys'] }),
      queryClient.invalidateQueries({ queryKey: ['GET /orgs/:org/key-reminders'] }),
    ]);
}

/** What is done with a key; the list is read again after each. */
export function useKeyChanges({ id, name }: ApiKey) {
  const { t } = useTranslation();
  const org = useOrg();
  const refresh = useRefreshKeys();
  const params = { org, key: id };
  return {
    revoke: useMutation({
      mutationFn: () => call('POST /orgs/:org/keys/:key/revoke', { params }),
      onSuccess: async () => {
        notifyDone(t('keys.revoked', { name }));
        await refresh();
      },
      onError: notifyFailure,
    }),
    unlock: useMutation({
      mutationFn: () => call('POST /orgs/:org/keys/:key/unlock', { params }),
      onSuccess: async () => {
        notifyDone(t('keys.unlocked', { name }));
        await refresh();
      },
      onError: notifyFailure,
    }),
  };
}
