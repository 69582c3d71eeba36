import type { Body, OrganisationSettings } from '@millrace/admin-api';
import { ApiProblem, call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointKey } from '@millrace/ui/api/query.ts';
import { notifyDone, notifyFailure } from '@millrace/ui/components/notify.ts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';

export interface SectionProps {
  readonly settings: OrganisationSettings;
}

/** Saves a part of the settings. What is wrong with single values is for the section to show. */
export function useSaveSettings() {
  const { t } = useTranslation();
  const org = useOrg();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (body: Body<'PATCH /orgs/:org/settings'>) =>
      call('PATCH /orgs/:org/settings', { params: { org }, body }),
    onSuccess: async (settings) => {
      queryClient.setQueryData(endpointKey('GET /orgs/:org/settings', { params: { org } }), settings);
      await queryClient.invalidateQueries({ queryKey: ['GET /orgs/:org/defaults'] });
      notifyDone(t('settings.saved'));
    },
    onError: (error) => {
      if (!(error instanceof ApiProblem) || error.errors.length === 0) notifyFailure(error);
    },
  });
}

/** What the service says of a value, by its pointer; of those further in when it begins with it. */
export function problemOf(error: Error | null, pointer: string): string | undefined {
  if (!(error instanceof ApiProblem)) return undefined;
  return error.errors.find((each) => each.pointer === pointer || each.pointer.startsWith(`${pointer}/`))
    ?.message;
}
