import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { Page } from '@millrace/ui/components/page.tsx';
import { QueryState } from '@millrace/ui/components/paged-list.tsx';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
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
      <QueryState query={settings} />
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
