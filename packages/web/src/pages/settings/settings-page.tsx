import type { Body, OrganisationSettings } from '@millrace/admin-api';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { ApiProblem, call } from '../../api/client.ts';
import { useOrg } from '../../api/me.ts';
import { endpointKey, endpointQuery } from '../../api/query.ts';
import { notifyDone, notifyFailure } from '../../ui/notify.ts';
import { Page } from '../../ui/page.tsx';
import { ErrorState, LoadingRows } from '../../ui/states.tsx';
import { GeneralSection } from './general-section.tsx';
import { HostsSection } from './hosts-section.tsx';
import { LimitsSection } from './limits-section.tsx';
import { RetentionSection } from './retention-section.tsx';

/** What the organisation decides for itself; each section is saved for itself. */
export function SettingsPage() {
  const { t } = useTranslation();
  const org = useOrg();
  const settings = useQuery(endpointQuery('GET /orgs/:org/settings', { params: { org } }));
  return (
    <Page title={t('settings.title')} description={t('settings.about')} width={820}>
      {settings.isPending && <LoadingRows />}
      {settings.isError && <ErrorState error={settings.error} onRetry={settings.refetch} />}
      {settings.isSuccess && (
        <div key={org}>
          <GeneralSection settings={settings.data} />
          <RetentionSection settings={settings.data} />
          <LimitsSection settings={settings.data} />
          <HostsSection settings={settings.data} />
        </div>
      )}
    </Page>
  );
}

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
