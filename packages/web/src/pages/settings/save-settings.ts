import type { Body, OrganisationSettings } from '@millrace/admin-api';
import { ApiProblem, call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointKey } from '@millrace/ui/api/query.ts';
import { notifyUnlessOfFields, useChange } from '@millrace/ui/components/use-change.ts';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';

export interface SectionProps {
  readonly settings: OrganisationSettings;
}

/** Saves a section of the settings. The section shows errors of individual values itself. */
export function useSaveSettings() {
  const { t } = useTranslation();
  const org = useOrg();
  const queryClient = useQueryClient();
  return useChange(
    (body: Body<'PATCH /orgs/:org/settings'>) => call('PATCH /orgs/:org/settings', { params: { org }, body }),
    {
      done: t('settings.saved'),
      refreshes: ['GET /orgs/:org/defaults'],
      onSuccess: (settings) =>
        queryClient.setQueryData(endpointKey('GET /orgs/:org/settings', { params: { org } }), settings),
      onError: notifyUnlessOfFields,
    },
  );
}

/** The service's message for the value at a pointer, or for one nested in it. */
export function problemOf(error: Error | null, pointer: string): string | undefined {
  if (!(error instanceof ApiProblem)) return undefined;
  return error.errors.find((each) => each.pointer === pointer || each.pointer.startsWith(`${pointer}/`))
    ?.message;
}
